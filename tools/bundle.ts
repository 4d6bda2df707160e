/**
 * Builds the program into `dist/bundle`: one small entry file and a chunk for each part that is loaded when it is
 * first used. Start-up then costs about what an empty program costs. Two things are done beyond `deno bundle`:
 *
 * - Some modules are bundled on their own first, each into one file that the rest then imports.
 *   - The MCP SDK and the writer of JSON Schema use all of zod, and a package in a split bundle is kept as far as any part
 *     uses it: every command would load 410 KB of zod instead of 36. The SDK takes its form for browsers, which leaves out
 *     Ajv (130 KB) and `node:process` (13 ms), both unused here: the transport is our own.
 *   - The core, all that every command needs: a split bundle would scatter it over two dozen chunks by who else uses
 *     each part, and a chunk costs 0.05 ms, however small it is.
 * - The names in `import("./chunk.js")` are hidden from Deno, which otherwise reads every chunk at every start to draw its
 *   module graph (6 ms; Deno 2.9.6). `deno compile` needs that graph, so it gets the bundle as it was.
 */

import { ROOT, runOrThrow } from "./programs.ts";
import denoJson from "../deno.json" with { type: "json" };

/** The folder of the bundle; its entry is `main.js`. */
export const BUNDLE_FOLDER = `${ROOT}/dist/bundle`;

/**
 * Only packages are minified. The minifier puts the value of a `using` declaration that is read once in the place where
 * it is read, and nothing is disposed any more: locks stayed taken and files open (Deno 2.9.6).
 */
const FOREIGN = { minify: true };
const OWN = { minify: false };

const START = `${ROOT}/src/start.ts`;
const WRITER = "src/tools/schema_writer.ts";

/** One module as `deno info --json` tells of it. */
interface GraphModule {
  specifier: string;
  dependencies?: { isDynamic?: boolean; code?: { specifier: string } }[];
}

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
    const core = await listCore();
    await Deno.writeTextFile(`${work}/core.ts`, core.map((url) => `export * from "${url}";\n`).join(""));
    const apart = new Map([
      [fileUrl(`${ROOT}/src/mcp/sdk.ts`), await bundleAlone(work, "sdk", `${ROOT}/src/mcp/sdk.ts`, FOREIGN)],
      [fileUrl(`${ROOT}/${WRITER}`), await bundleAlone(work, "writer", `${ROOT}/${WRITER}`, FOREIGN)],
    ]);
    const coreUrl = await bundleAlone(work, "core", `${work}/core.ts`, OWN);
    for (const url of core) apart.set(url, coreUrl);
    await Deno.writeTextFile(`${work}/deno.json`, JSON.stringify(configWith(apart)));
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
  await runOrThrow(Deno.execPath(), ["bundle", ...args]);
}

/** Bundles a module and all that it imports into one file of the work folder, and answers that file's address. */
async function bundleAlone(
  work: string,
  name: string,
  source: string,
  { minify }: { minify: boolean },
): Promise<string> {
  const output = `${work}/${name}.js`;
  await bundle([
    ...(minify ? ["--minify"] : []),
    "--platform=browser",
    `--config=${ROOT}/deno.json`,
    `--output=${output}`,
    source,
  ]);
  return fileUrl(output);
}

/** The addresses of all modules that the start imports and that need no package and load nothing later, nor import such. */
async function listCore(): Promise<string[]> {
  const { modules }: { modules: GraphModule[] } = JSON.parse(
    await runOrThrow(Deno.execPath(), ["info", "--json", `--config=${ROOT}/deno.json`, START]),
  );
  const importsOf = new Map(modules.map(({ specifier, dependencies = [] }) => [
    specifier,
    dependencies.flatMap(({ isDynamic = false, code }) => code ? [{ isDynamic, url: code.specifier }] : []),
  ]));
  const closureOf = (url: string): Set<string> => {
    const found = new Set([url]);
    for (const each of found) {
      for (const { isDynamic, url: next } of importsOf.get(each) ?? []) if (!isDynamic) found.add(next);
    }
    return found;
  };
  const isPlain = (url: string): boolean =>
    !url.startsWith("npm:") &&
    (importsOf.get(url) ?? []).every(({ isDynamic, url }) => !isDynamic || url.startsWith("node:"));
  return [...closureOf(fileUrl(START))].filter((url) => [...closureOf(url)].every(isPlain));
}

/** The imports of deno.json, with bundled files in the place of modules. */
function configWith(apart: ReadonlyMap<string, string>): {
  imports: Record<string, string>;
  nodeModulesDir: string;
} {
  const { imports, nodeModulesDir } = denoJson;
  return { imports: { ...imports, ...Object.fromEntries(apart) }, nodeModulesDir };
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
