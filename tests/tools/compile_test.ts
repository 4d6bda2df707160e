/** The compile step up to where the vendor's runtime is needed: what gets embedded is what the release promises. */

import assert from "node:assert/strict";
import { buildBundle } from "../../tools/bundle.ts";
import { compileFor } from "../../tools/compile.ts";
import { namesOf, readPermissionFlags, type SystemKind } from "../../tools/permissions.ts";
import { NPM, runProgram } from "../../tools/programs.ts";

/** Where Deno keeps what it embedded: the magic, the length as 8 bytes, a JSON text (seen in Deno 2.9.6). */
function readEmbedded(bytes: Uint8Array): Record<string, unknown> {
  const magic = new TextEncoder().encode("d3n0l4nd");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = bytes.length - 16; at >= 0; at--) {
    if (bytes[at] !== magic[0] || !magic.every((byte, index) => bytes[at + index] === byte)) continue;
    if (bytes[at + 16] !== 0x7b || view.getUint32(at + 12, true) !== 0) continue;
    const length = view.getUint32(at + 8, true);
    return JSON.parse(new TextDecoder().decode(bytes.subarray(at + 16, at + 16 + length)));
  }
  throw new Error("nothing is embedded");
}

async function compileWith(
  runtime: string,
  target: string,
  folder: string,
): Promise<Record<string, unknown>> {
  const bundle = `${folder}/bundle`;
  await buildBundle(bundle, { forCompile: true });
  const file = `${folder}/stand-in-output`;
  try {
    const compiled = await compileFor(target, bundle, file, { DENORT_BIN: runtime });
    assert.ok("file" in compiled, `compile did not use the stand-in: ${JSON.stringify(compiled)}`);
    const written = await Deno.stat(file).then(() => file, () => `${file}.exe`);
    return readEmbedded(await Deno.readFile(written));
  } finally {
    await Deno.remove(file).catch(() => {});
    await Deno.remove(`${file}.exe`).catch(() => {});
  }
}

function assertIsTheRelease(embedded: Record<string, unknown>, system: SystemKind): void {
  const flags = readPermissionFlags(system);
  assert.equal(embedded.entrypoint_key, "main.js");
  assert.equal(embedded.app_name, "hvlab");
  assert.equal(embedded.log_level, "ERROR");
  assert.deepEqual(embedded.argv, []);
  assert.deepEqual(embedded.permissions, {
    allow_env: namesOf(flags, "env"),
    allow_ffi: null,
    allow_import: ["none.invalid:443"],
    allow_net: [],
    allow_read: [],
    allow_run: namesOf(flags, "run"),
    allow_sys: namesOf(flags, "sys"),
    allow_write: [],
    deny_env: null,
    deny_ffi: null,
    deny_import: null,
    deny_net: null,
    deny_read: null,
    deny_run: null,
    deny_sys: null,
    deny_write: null,
    ignore_env: null,
    ignore_read: null,
    prompt: false,
  });
}

const linuxTarget = `${Deno.build.arch}-unknown-linux-gnu`;

Deno.test({
  name: "compile for Linux embeds the one permission list, with Deno itself standing in for the runtime",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      assertIsTheRelease(await compileWith(Deno.execPath(), linuxTarget, folder), "posix");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

const windowsDeno = await fetchWindowsDeno();

Deno.test({
  name: "compile for Windows embeds the one permission list, with deno.exe standing in for the runtime" +
    ("why" in windowsDeno ? ` (skipped: ${windowsDeno.why})` : ""),
  ignore: "why" in windowsDeno,
  async fn() {
    if ("why" in windowsDeno) return;
    const folder = await Deno.makeTempDir();
    try {
      assertIsTheRelease(
        await compileWith(windowsDeno.program, "x86_64-pc-windows-msvc", folder),
        "windows",
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("compile's last step runs where Deno's runtime can be had, and says why where it cannot", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await buildBundle(`${folder}/bundle`, { forCompile: true });
    const compiled = await compileFor(linuxTarget, `${folder}/bundle`, `${folder}/hvlab`);
    if ("unreachable" in compiled) {
      console.log(`note: compile: last step not run here because ${compiled.unreachable}`);
      assert.match(compiled.unreachable, /^the Deno runtime for .* could not be fetched: ./);
      await assert.rejects(Deno.stat(`${folder}/hvlab`), Deno.errors.NotFound);
    } else if (Deno.build.os === "linux") {
      const { code, stdout } = await runProgram(compiled.file, ["--version"]);
      assert.equal(code, 0);
      assert.match(stdout, /\d+\.\d+\.\d+/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The Windows binary out of Deno's own npm package, kept in `dist/cache`; or why it cannot be had. */
async function fetchWindowsDeno(): Promise<{ program: string } | { why: string }> {
  const version = Deno.version.deno;
  const cache = decodeURIComponent(new URL("../../dist/cache", import.meta.url).pathname);
  const program = `${cache}/deno-${version}.exe`;
  if (await Deno.stat(program).then(() => true, () => false)) return { program };
  await Deno.mkdir(cache, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: cache });
  try {
    const name = `@deno/win32-x64@${version}`;
    const packed = await runProgram(NPM, ["pack", "--silent", "--pack-destination", folder, name]);
    if (packed.code !== 0) return { why: `npm cannot fetch ${name}: ${packed.stderr.trim().split("\n")[0]}` };
    const tarball = `${folder}/${packed.stdout.trim().split("\n").at(-1)}`;
    const unpacked = await runProgram("tar", ["-xzf", tarball, "-C", folder, "package/deno.exe"]);
    if (unpacked.code !== 0) return { why: `tar cannot unpack ${name}: ${unpacked.stderr.trim()}` };
    await Deno.rename(`${folder}/package/deno.exe`, program);
    return { program };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
