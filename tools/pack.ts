/** Makes the npm package: the launcher, the bundle and the permission list, packed as `dist/hvlab-VERSION.tgz`. */

import { buildBundle, BUNDLE_FOLDER } from "./bundle.ts";
import { NPM, ROOT, runOrThrow } from "./programs.ts";

/** Builds the package from the bundle in `bundle` into the folder `out`; returns the path of the packed file. */
export async function packForNpm(bundle: string = BUNDLE_FOLDER, out = `${ROOT}/dist`): Promise<string> {
  const version = await versionOf("deno.json");
  const npmVersion = await versionOf("npm/package.json");
  if (version !== npmVersion) {
    throw new Error(`deno.json is version ${version}, but npm/package.json is version ${npmVersion}`);
  }
  const stage = `${out}/npm.${Deno.pid}`;
  try {
    await Deno.mkdir(`${stage}/bin`, { recursive: true });
    await Deno.mkdir(`${stage}/dist`);
    await Deno.copyFile(`${ROOT}/npm/package.json`, `${stage}/package.json`);
    await Deno.copyFile(`${ROOT}/npm/bin/hvlab.js`, `${stage}/bin/hvlab.js`);
    await Deno.copyFile(`${ROOT}/tools/permissions.txt`, `${stage}/dist/permissions.txt`);
    for (const text of ["LICENSE", "NOTICE", "README.md"]) {
      await Deno.copyFile(`${ROOT}/${text}`, `${stage}/${text}`);
    }
    for await (const { name } of Deno.readDir(bundle)) {
      await Deno.copyFile(`${bundle}/${name}`, `${stage}/dist/${name}`);
    }
    await runOrThrow(NPM, ["pack", "--silent", "--pack-destination", out], { cwd: stage });
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
  return `${out}/hvlab-${version}.tgz`;
}

async function versionOf(file: string): Promise<string> {
  const parsed: unknown = JSON.parse(await Deno.readTextFile(`${ROOT}/${file}`));
  if (
    typeof parsed === "object" && parsed !== null && "version" in parsed && typeof parsed.version === "string"
  ) {
    return parsed.version;
  }
  throw new Error(`${file} names no version`);
}

if (import.meta.main) {
  await buildBundle();
  console.log(await packForNpm());
}
