/**
 * Builds the program into `dist/bundle`: one small entry file and a chunk for each part that is loaded when it is
 * first used. Start-up then costs about what an empty program costs.
 */

import { ROOT, runOrThrow } from "./programs.ts";

/** The folder of the bundle; its entry is `main.js`. */
export const BUNDLE_FOLDER = `${ROOT}/dist/bundle`;

/** Builds the bundle of `entry`. The old one is replaced as a whole, so that whoever runs it meets no mixture. */
export async function buildBundle(folder: string = BUNDLE_FOLDER, entry = `${ROOT}/main.ts`): Promise<void> {
  const fresh = `${folder}.${Deno.pid}`;
  const old = `${folder}.old.${Deno.pid}`;
  try {
    await runOrThrow(Deno.execPath(), [
      "bundle",
      "--minify",
      "--code-splitting",
      "--platform=deno",
      `--outdir=${fresh}`,
      entry,
    ]);
    await Deno.rename(folder, old).catch(ignoreMissing);
    await Deno.rename(fresh, folder);
  } finally {
    await Deno.remove(old, { recursive: true }).catch(ignoreMissing);
    await Deno.remove(fresh, { recursive: true }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

if (import.meta.main) {
  await buildBundle();
  let bytes = 0;
  let files = 0;
  for await (const { name } of Deno.readDir(BUNDLE_FOLDER)) {
    bytes += (await Deno.stat(`${BUNDLE_FOLDER}/${name}`)).size;
    files++;
  }
  console.log(`bundle: ${files} files, ${Math.round(bytes / 1024)} KiB in dist/bundle`);
}
