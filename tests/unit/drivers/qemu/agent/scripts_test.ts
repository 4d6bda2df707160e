/** The script that starts programs, run by this machine's own shell with its streams in both kinds of place. */

import assert from "node:assert/strict";
import { joinPath } from "../../../../../src/base/paths.ts";
import { FIND_WAITING, START_PROGRAM } from "../../../../../src/drivers/qemu/agent/scripts.ts";
import { PIPES, STREAM_PLACES, type StreamPlace } from "../../../../../src/drivers/qemu/agent/streams.ts";
import { hasProgram } from "../../../../support/tiny_image.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

const LIMIT_MS = 60_000;
const WORD = crypto.randomUUID();
const isLinux = Deno.build.os === "linux";

interface Ran {
  code: number;
  out: string;
  err: string;
}

function startWaiting(
  place: StreamPlace,
  argv: string[],
  { shell = "/bin/sh", env = {} }: { shell?: string; env?: Record<string, string> } = {},
): Deno.ChildProcess {
  return new Deno.Command(shell, {
    args: ["-c", START_PROGRAM, "hvlab", WORD, place.base, "", "", "0", ...argv],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Does what the agent would do: opens the streams when they are there, and lets the program begin. */
async function run(place: StreamPlace, argv: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = startWaiting(place, argv, { env });
  const end = performance.now() + LIMIT_MS;
  const out = place.pathOf("out", child.pid);
  while (await Deno.stat(out).then(() => false, () => true)) {
    if (performance.now() > end) throw new Error(`"${out}" did not appear`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const both = { read: true, write: true };
  using outFile = await Deno.open(out, both);
  using errFile = await Deno.open(place.pathOf("err", child.pid), both);
  // What lies in a stream before the program begins is nobody's but its reader's.
  await errFile.write(new TextEncoder().encode("early\n"));
  await openGate(place, child.pid);
  const hung = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const { code } = await child.output();
  clearTimeout(hung);
  return { code, out: await readAll(outFile), err: await readAll(errFile) };
}

/** What goes through the gate stays there, although nobody but the program has it open afterwards. */
async function openGate(place: StreamPlace, pid: number): Promise<void> {
  using gate = await Deno.open(place.pathOf("gate", pid), { read: true, write: true });
  await gate.write(new TextEncoder().encode("\n"));
}

/** A marker behind the data tells where it ends, since our own writing end stays open. */
async function readAll(file: Deno.FsFile): Promise<string> {
  await file.write(new TextEncoder().encode("\0"));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let text = "";
  while (!text.endsWith("\0")) {
    text += decoder.decode(buffer.subarray(0, await file.read(buffer) ?? 0), { stream: true });
  }
  return text.slice(0, -1);
}

for (const makePlace of STREAM_PLACES.slice(0, 2)) {
  const kind = makePlace().base === PIPES.base ? "pipes of the shell" : "FIFOs";
  Deno.test({
    name: `a program has its streams apart on ${kind}, and leaves no file`,
    ignore: !isLinux,
    fn: async () => {
      const place = makePlace();
      const ran = await run(place, [
        "sh",
        "-c",
        "for n in 7 8 9; do [ ! -e /proc/self/fd/$n ] || echo $n; done; echo closed; echo err >&2; exit 7",
      ]);
      assert.deepEqual(ran, { code: 7, out: "closed\n", err: "early\nerr\n" });
      if (place.base === "") return;
      await assert.rejects(Deno.stat(place.pathOf("out", 0)), Deno.errors.NotFound);
      await assert.rejects(Deno.stat(place.pathOf("err", 0)), Deno.errors.NotFound);
    },
  });
}

Deno.test({
  name: "a program begins although its gate was opened before a slow guest's shell could look at it",
  ignore: !isLinux,
  fn: () =>
    withTemporaryFolder(async (folder) => {
      const path = Deno.env.get("PATH") ?? "";
      const slow = `#!/bin/sh\nPATH=\${PATH#*:}\nmkfifo "$@" && sleep 0.5\n`;
      await Deno.writeTextFile(joinPath(folder, "mkfifo"), slow, { mode: 0o700 });
      const base = joinPath(folder, "fifo");
      const place: StreamPlace = {
        base,
        pathOf: (name) => `${base}.${{ out: "o", err: "e", gate: "i" }[name]}`,
      };
      const ran = await run(place, ["echo", "begun"], { PATH: `${folder}:${path}` });
      assert.deepEqual(ran, { code: 0, out: "begun\n", err: "early\n" });
    }),
});

Deno.test({
  name: "a shell whose here-documents are no pipes never shows a stream that the agent could open",
  ignore: !isLinux || !hasProgram("bash"),
  fn: () =>
    withTemporaryFolder(async (folder) => {
      const [seen, look] = [joinPath(folder, "seen"), joinPath(folder, "look")];
      const trap = `trap '[ ! -e /proc/$$/fd/9 ] || echo "$BASH_COMMAND" >>"$HVLAB_SEEN"' DEBUG\n`;
      await Deno.writeTextFile(look, trap);
      const env = { BASH_ENV: look, HVLAB_SEEN: seen };
      const child = startWaiting(PIPES, ["true"], { shell: "bash", env });
      const { code, stdout } = await child.output();
      assert.deepEqual([code, new TextDecoder().decode(stdout)], [125, "pipe\n"]);
      await assert.rejects(Deno.stat(seen), Deno.errors.NotFound);
    }),
});

Deno.test({
  name: "a program that waits at its gate is found by its word, and no other",
  ignore: !isLinux,
  fn: async () => {
    const child = startWaiting(PIPES, ["true"]);
    try {
      assert.equal(await findWaiting(WORD), `${child.pid}\n`);
      assert.equal(await findWaiting(crypto.randomUUID()), "");
    } finally {
      child.kill("SIGKILL");
      await child.output();
    }
  },
});

async function findWaiting(word: string): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/sh", { args: ["-c", FIND_WAITING, "hvlab", word] })
    .output();
  return new TextDecoder().decode(stdout);
}
