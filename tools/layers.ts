/** Holds the module graph against the import rules in `layers.json`, and finds circles in it. */

import { type Edge, findCircles } from "./circles.ts";
import { ROOT, runOrThrow } from "./programs.ts";
import layers from "./layers.json" with { type: "json" };

/** What may import what. */
export interface LayerRules {
  /** Lowest first. A layer may import lower ones and itself, not its neighbours on one level. */
  levels: readonly (readonly string[])[];
  /** Which layer a file belongs to; the first path that fits counts, `*` is one folder, a final `/` is all below. */
  places: readonly { path: string; layer: string }[];
  /** Layers that may import less than what stands below them. */
  only: readonly { layer: string; imports: readonly string[] }[];
  /** Folders that are imported from inside themselves and from one file. */
  private: readonly { folder: string; importer: string }[];
  /** Files that everyone may import. */
  free: readonly string[];
}

/** The edges that break a rule, each with the reason. */
export function findForbidden(edges: readonly Edge[], rules: LayerRules = layers): string[] {
  return edges.flatMap((edge) => {
    const reason = whyForbidden(edge, rules);
    return reason === undefined ? [] : [`${edge.from} imports ${edge.to}: ${reason}`];
  });
}

function whyForbidden({ from, to }: Edge, rules: LayerRules): string | undefined {
  if (rules.free.includes(to)) return undefined;
  const importer = layerOf(from, rules);
  const imported = layerOf(to, rules);
  if (importer === undefined) return `${from} is in no layer`;
  if (imported === undefined) return `${to} is in no layer`;
  for (const { folder, importer: door } of rules.private) {
    const home = folderThatFits(to, folder);
    if (home !== undefined && !from.startsWith(home) && from !== door) return `only ${door} imports ${home}`;
  }
  if (importer === imported) return undefined;
  const only = rules.only.find(({ layer }) => layer === importer);
  if (only !== undefined && !only.imports.includes(imported)) {
    return `${importer} imports ${
      only.imports.length === 0 ? "nothing of ours" : `only ${only.imports.join(", ")}`
    }`;
  }
  return levelOf(imported, rules) < levelOf(importer, rules)
    ? undefined
    : `${imported} is not below ${importer}`;
}

function layerOf(path: string, { places }: LayerRules): string | undefined {
  return places.find((place) => path === place.path || folderThatFits(path, place.path) !== undefined)?.layer;
}

/** The folder that a pattern such as `src/tools/*` + `/` stands for in a path; `undefined` when it does not fit. */
function folderThatFits(path: string, pattern: string): string | undefined {
  if (!pattern.endsWith("/")) return undefined;
  const words = pattern.split("/").slice(0, -1);
  const parts = path.split("/").slice(0, -1);
  if (parts.length < words.length) return undefined;
  if (!words.every((word, index) => word === "*" || word === parts[index])) return undefined;
  return `${parts.slice(0, words.length).join("/")}/`;
}

function levelOf(layer: string, { levels }: LayerRules): number {
  const level = levels.findIndex((names) => names.includes(layer));
  if (level < 0) throw new Error(`The layer "${layer}" stands on no level of layers.json`);
  return level;
}

/** The graph of an entry file: its files under the repository's folder and the edges between them, types included. */
export async function readGraph(
  entry: string,
  root: string = ROOT,
): Promise<{ files: string[]; edges: Edge[] }> {
  const graph: unknown = JSON.parse(
    await runOrThrow(Deno.execPath(), ["info", "--json", entry], { cwd: root }),
  );
  const prefix = `${new URL(`file://${encodeURI(root)}/`)}`;
  const files: string[] = [];
  const edges: Edge[] = [];
  for (const module of listOf(graph, "modules")) {
    const specifier = textOf(module, "specifier");
    if (!specifier?.startsWith(prefix)) continue;
    const failure = textOf(module, "error");
    if (failure !== undefined) throw new Error(failure);
    const from = decodeURIComponent(specifier.slice(prefix.length));
    files.push(from);
    for (const dependency of listOf(module, "dependencies")) {
      for (const kind of ["code", "type"]) {
        const target = textOf(fieldOf(dependency, kind), "specifier");
        if (target?.startsWith(prefix)) {
          edges.push({ from, to: decodeURIComponent(target.slice(prefix.length)) });
        }
      }
    }
  }
  return { files, edges };
}

/** All that is wrong with the product's graph: forbidden imports, circles, and files of `src` that nothing leads to. */
export async function checkLayers(): Promise<string[]> {
  const { files, edges } = await readGraph("main.ts");
  const reached = new Set(files);
  const unreached: string[] = [];
  for await (const file of sourceFiles("src")) {
    if (!reached.has(file)) unreached.push(`${file}: nothing leads to it from main.ts`);
  }
  const circles = findCircles(edges).map((files) => `a circle of imports: ${files.join(" -> ")}`);
  return [...findForbidden(edges), ...circles, ...unreached.sort()];
}

async function* sourceFiles(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(`${ROOT}/${folder}`)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* sourceFiles(path);
    else if (path.endsWith(".ts")) yield path;
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function listOf(value: unknown, key: string): unknown[] {
  const list = fieldOf(value, key);
  return Array.isArray(list) ? list : [];
}

function textOf(value: unknown, key: string): string | undefined {
  const text = fieldOf(value, key);
  return typeof text === "string" ? text : undefined;
}

if (import.meta.main) {
  const findings = await checkLayers();
  for (const finding of findings) console.error(finding);
  console.log(`layers: ${findings.length === 0 ? "as layers.json says" : `${findings.length} findings`}`);
  if (findings.length > 0) Deno.exit(1);
}
