/**
 * Compiles the program for every platform into `dist/release`, each file with its SHA-256 beside it. The last step needs
 * Deno's runtime for the target, which Deno fetches from its vendor's download host, or takes from `DENORT_BIN`.
 */

import { buildBundle } from "./bundle.ts";
import { readPermissionFlags } from "./permissions.ts";
import { ROOT, runProgram } from "./programs.ts";

/** Deno's name of each target and the file that is made for it. */
export const TARGETS: ReadonlyMap<string, string> = new Map([
  ["x86_64-pc-windows-msvc", "hvlab-windows-x64.exe"],
  ["aarch64-pc-windows-msvc", "hvlab-windows-arm64.exe"],
  ["x86_64-unknown-linux-gnu", "hvlab-linux-x64"],
  ["aarch64-unknown-linux-gnu", "hvlab-linux-arm64"],
  ["x86_64-apple-darwin", "hvlab-macos-x64"],
  ["aarch64-apple-darwin", "hvlab-macos-arm64"],
]);

/** What came of one compilation: the file, or why the runtime for it could not be had. */
export type Compiled = { file: string } | { unreachable: string };

/**
 * Compiles a bundle for one target. A compiled program knows no `--no-remote` and would import code from several public
 * hosts, so its import list names one host that cannot exist. Throws when anything but the runtime is missing.
 */
export async function compileFor(
  target: string,
  bundle: string,
  file: string,
  env: Record<string, string> = {},
): Promise<Compiled> {
  const { code, stderr } = await runProgram(Deno.execPath(), [
    "compile",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--app-name=hvlab",
    "--allow-import=none.invalid:443",
    ...readPermissionFlags(target.includes("windows") ? "windows" : "posix"),
    `--target=${target}`,
    `--output=${file}`,
    "main.js",
  ], { cwd: bundle, env });
  if (code === 0) return { file };
  const why = /error sending request for url \((.*)\): (.*)/.exec(stderr);
  if (!stderr.includes("Setting up base binary") || why === null) {
    throw new Error(`deno compile for ${target} ended with code ${code}:\n${stderr}`);
  }
  return { unreachable: `the Deno runtime for ${target} could not be fetched: ${why[2]}` };
}

/** Writes `FILE.sha256` in the form that `sha256sum --check` reads; returns its line. */
export async function writeChecksum(file: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(file)));
  const line = `${digest.toHex()}  ${file.slice(file.lastIndexOf("/") + 1)}\n`;
  await Deno.writeTextFile(`${file}.sha256`, line);
  return line;
}

async function compileAll(targets: readonly string[]): Promise<number> {
  const release = `${ROOT}/dist/release`;
  const bundle = `${ROOT}/dist/bundle-for-compile`;
  await buildBundle(bundle, { forCompile: true });
  await Deno.mkdir(release, { recursive: true });
  let missing = 0;
  let sums = "";
  for (const target of targets) {
    const name = TARGETS.get(target);
    if (name === undefined) {
      throw new Error(`Unknown target "${target}"; known are ${[...TARGETS.keys()].join(", ")}`);
    }
    const compiled = await compileFor(target, bundle, `${release}/${name}`);
    if ("file" in compiled) {
      sums += await writeChecksum(compiled.file);
      console.log(`compile: ${name}`);
    } else {
      missing++;
      console.error(`compile: ${name} was not made: ${compiled.unreachable}`);
    }
  }
  if (sums !== "") await Deno.writeTextFile(`${release}/SHA256SUMS`, sums);
  return missing;
}

if (import.meta.main) {
  if (Deno.env.has("DENORT_BIN")) {
    console.error("compile: DENORT_BIN is set; its file becomes part of every result");
  }
  const missing = await compileAll(Deno.args.length > 0 ? Deno.args : [...TARGETS.keys()]);
  if (missing > 0) {
    console.error(
      `compile: ${missing} files are missing; run this on a machine that reaches Deno's download host`,
    );
    Deno.exit(1);
  }
}
