/** The script that starts programs, run by this machine's own shell with its streams in both kinds of place. */

import assert from "node:assert/strict";
import { START_PROGRAM } from "../../../../../src/drivers/qemu/agent/scripts.ts";
import { PIPES, STREAM_PLACES, type StreamPlace } from "../../../../../src/drivers/qemu/agent/streams.ts";

const LIMIT_MS = 300_000;
const isLinux = Deno.build.os === "linux";

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Does what the agent would do: opens the streams when they are there, and lets the program begin. */
async function run(place: StreamPlace, argv: string[]): Promise<Ran> {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", START_PROGRAM, "hvlab", place.base, "", "", "0", ...argv],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
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
  using gate = await Deno.open(place.pathOf("gate", child.pid), both);
  await gate.write(new TextEncoder().encode("\n"));
  const { code } = await child.output();
  return { code, out: await readAll(outFile), err: await readAll(errFile) };
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
