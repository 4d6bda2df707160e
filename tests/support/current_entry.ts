/** Which form of the program tests start: the bundle when nothing has changed since it was built, else the source. */

import { ROOT } from "../../tools/programs.ts";

const BUNDLE = `${ROOT}/dist/bundle/main.js`;
const SOURCE = `${ROOT}/main.ts`;

/** The path of the bundle's entry file, or of `main.ts` when the bundle is missing or older than any source file. */
export function currentEntry(): string {
  const built = changedAt(BUNDLE);
  if (built === undefined) return SOURCE;
  return [SOURCE, `${ROOT}/deno.json`, ...filesUnder(`${ROOT}/src`)].every((path) =>
      (changedAt(path) ?? 0) <= built
    )
    ? BUNDLE
    : SOURCE;
}

function changedAt(path: string): number | undefined {
  try {
    return Deno.statSync(path).mtime?.getTime();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function filesUnder(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesUnder(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}
