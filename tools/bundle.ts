/**
 * Builds the program into `dist/bundle`: one small entry file and a chunk for each part that is loaded when it is
 * first used. Start-up then costs about what an empty program costs. Two things are done beyond `deno bundle`:
 *
 * - The MCP SDK is bundled on its own first. It uses all of zod, and a package in a split bundle is kept as far as any part
 *   uses it: every command would load 410 KB of zod instead of 33. It takes the SDK's form for browsers, which leaves out
 *   Ajv (130 KB) and `node:process` (13 ms), both unused here: the transport is our own.
 * - The names in `import("./chunk.js")` are hidden from Deno, which otherwise reads every chunk at every start to draw its
 *   module graph (6 ms; Deno 2.9.6). `deno compile` needs that graph, so it gets the bundle as it was.
 */

import { ROOT, runOrThrow } from "./programs.ts";
import denoJson from "../deno.json" with { type: "json" };

/** The folder of the bundle; its entry is `main.js`. */
export const BUNDLE_FOLDER = `${ROOT}/dist/bundle`;

export interface BundleOptions {
  /** Leaves dynamic imports as Deno can follow them. */
  forCompile?: boolean;
}

/** Builds the bundle. The old one is replaced as a whole, so that whoever runs it meets no mixture. */
export async function buildBundle(
  folder: string = BUNDLE_FOLDER,
  { forCompile = false }: BundleOptions = {},
): Promise<void> {
  const work = `${folder}.${Deno.pid}.${crypto.randomUUID()}`;
  try {
    await Deno.mkdir(work, { recursive: true });
    await bundle(["--platform=browser", `--output=${work}/sdk.js`, `${ROOT}/src/mcp/sdk.ts`]);
    await Deno.writeTextFile(`${work}/deno.json`, JSON.stringify(configWithSdk(`${work}/sdk.js`)));
    await bundle([
      "--platform=deno",
      `--config=${work}/deno.json`,
      `--lock=${ROOT}/deno.lock`,
      "--frozen",
      "--code-splitting",
      `--outdir=${work}/bundle`,
      `${ROOT}/main.ts`,
    ]);
    if (!forCompile) await hideImports(`${work}/bundle`);
    await Deno.rename(folder, `${work}/old`).catch(ignoreMissing);
    await Deno.rename(`${work}/bundle`, folder);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Turns `import("./a.js")` into an import whose name is only known when it runs. */
export function hideImportNames(code: string): string {
  return code.replace(/\bimport\(("\.\/[^"\\]+")\)/g, "import([$1][0])");
}

async function bundle(args: string[]): Promise<void> {
  await runOrThrow(Deno.execPath(), ["bundle", "--minify", ...args]);
}

/** The imports of deno.json, with the bundled SDK in the place of the one file that sees it. */
function configWithSdk(sdk: string): { imports: Record<string, string>; nodeModulesDir: string } {
  const { imports, nodeModulesDir } = denoJson;
  return { imports: { ...imports, [fileUrl(`${ROOT}/src/mcp/sdk.ts`)]: fileUrl(sdk) }, nodeModulesDir };
}

function fileUrl(path: string): string {
  return new URL(`file://${path.startsWith("/") ? "" : "/"}${encodeURI(path)}`).href;
}

async function hideImports(folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    const code = await Deno.readTextFile(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/${name}`, hideImportNames(code));
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
