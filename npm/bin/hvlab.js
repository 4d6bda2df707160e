#!/usr/bin/env node
// Starts hvlab's bundle under the Deno that this package depends on, with the permissions of the release.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, isAbsolute, join, win32 } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const UNAVAILABLE = 8;
const onWindows = process.platform === "win32";
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), "dist");
const argv = process.argv.slice(2);

const [program, leading] = findDeno();
const flags = readPermissionFlags(readPrograms(configPath()));
const env = { ...process.env };
delete env.RUST_BACKTRACE;
run(program, [...leading, "run", ...flags, "--no-config", "--no-lock", join(dist, "main.js"), ...argv]);

/** The Deno binary of the package `deno`; where its install step did not run, the package's own launcher. */
function findDeno() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve("deno/package.json"));
    const binary = join(folder, onWindows ? "deno.exe" : "deno");
    return existsSync(binary) ? [binary, []] : [process.execPath, [join(folder, "bin.cjs")]];
  } catch {
    fail("cannot find the npm package 'deno'", "npm install hvlab, without leaving dependencies out");
  }
}

/** `--config` among our own arguments (before `--`), else the file in the platform's folder, where that is known. */
function configPath() {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  let named;
  for (let index = 0; index < own.length; index++) {
    if (own[index] === "--config") named = own[++index];
    else if (own[index].startsWith("--config=")) named = own[index].slice("--config=".length);
  }
  if (named) return named;
  const { APPDATA = "", HOME = "", XDG_CONFIG_HOME = "" } = process.env;
  const folder = onWindows
    ? APPDATA
    : process.platform === "darwin"
    ? join(HOME, "Library", "Application Support")
    : isAbsolute(XDG_CONFIG_HOME)
    ? XDG_CONFIG_HOME
    : join(HOME, ".config");
  return isAbsolute(folder) ? join(folder, "hvlab", "hvlab.yaml") : undefined;
}

/** The absolute paths in the configuration's `programs:` section; none when it cannot be read. */
function readPrograms(path) {
  if (path === undefined) return [];
  let text;
  try {
    // Windows PowerShell and Notepad begin their UTF-8 with a mark.
    text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch {
    return [];
  }
  const programs = [];
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    if (/^programs:/.test(line)) inside = true;
    else if (/^[^\s#]/.test(line)) inside = false;
    const [, value] = /^\s+(?:"[^"]*"|'[^']*'|[^\s:#]+):\s+(.+)$/.exec(line) ?? [];
    if (!inside || value === undefined) continue;
    const found = value.replace(/\s+#.*$/, "").trim().replace(/^(["'])(.*)\1$/, "$2");
    if (!found.startsWith("/") && !(onWindows && win32.isAbsolute(found))) continue;
    if (found.includes(",")) {
      process.stderr.write(`hvlab: left out the program '${found}': Deno's lists cannot hold a comma\n`);
    } else programs.push(found);
  }
  return programs;
}

/** The flags of the list that hold on this kind of system, the first list of programs with those of the configuration. */
function readPermissionFlags(programs) {
  const system = onWindows ? "windows" : "posix";
  return readFileSync(join(dist, "permissions.txt"), "utf8").split(/\r?\n/).flatMap((line) => {
    if (line.startsWith("--allow-run=")) return [[line, ...programs].join(",")];
    const [, only = system, flag] = /^(?:(posix|windows) )?(--.*)$/.exec(line) ?? [];
    return flag !== undefined && only === system ? [flag] : [];
  });
}

/** Passes the standard streams, signals and the exit code through untouched. */
function run(file, args) {
  const child = spawn(file, args, { stdio: "inherit", env, windowsHide: true });
  const atTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // On Windows they come from the console alone, which tells the child as well, and `kill` knows no gentle way there.
  for (const signal of onWindows ? ["SIGINT", "SIGBREAK", "SIGHUP"] : []) process.on(signal, () => {});
  for (const signal of onWindows ? [] : ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // A terminal sends its interrupt to both processes; a second one would count as impatience.
    process.on(signal, () => signal === "SIGINT" && atTerminal || child.kill(signal));
  }
  child.on("error", (error) => fail(`cannot start '${file}': ${error.message}`, "npm install hvlab again"));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function fail(message, hint) {
  process.stderr.write(`hvlab: ${message}\nhint: ${hint}\n`);
  process.exit(UNAVAILABLE);
}
