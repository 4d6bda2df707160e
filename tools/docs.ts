/** Writes the reference in `docs/reference` from the tool table; with `--check` it only says whether it is up to date. */

import { catalogue } from "../src/tools/table.ts";
import { renderReference } from "./docs/pages.ts";
import { ROOT } from "./programs.ts";

const FOLDER = `${ROOT}/docs/reference`;

/** Files of the reference that are missing, differ, or belong to no tool any more. */
export async function findStale(pages: ReadonlyMap<string, string>, folder: string): Promise<string[]> {
  const stale: string[] = [];
  for (const [name, text] of pages) {
    if (await readText(`${folder}/${name}`) !== text) stale.push(name);
  }
  return [...stale, ...await foreignFiles(pages, folder)].sort();
}

/** Writes all pages and removes what belongs to none. */
export async function writeReference(pages: ReadonlyMap<string, string>, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of pages) await Deno.writeTextFile(`${folder}/${name}`, text);
  for (const name of await foreignFiles(pages, folder)) await Deno.remove(`${folder}/${name}`);
}

async function foreignFiles(pages: ReadonlyMap<string, string>, folder: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    return entries.map(({ name }) => name).filter((name) => !pages.has(name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await Deno.readTextFile(path)).replaceAll("\r\n", "\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

if (import.meta.main) {
  const pages = await renderReference(catalogue);
  if (Deno.args.includes("--check")) {
    const stale = await findStale(pages, FOLDER);
    console.log(
      stale.length === 0 ? "docs: up to date" : `docs: stale: ${stale.join(", ")}; run deno task docs`,
    );
    if (stale.length > 0) Deno.exit(1);
  } else {
    await writeReference(pages, FOLDER);
    console.log(`docs: ${pages.size} pages in docs/reference`);
  }
}
