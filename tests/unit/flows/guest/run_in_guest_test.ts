import assert from "node:assert/strict";
import type { ByteSink, GuestExit } from "../../../../src/guest/channel.ts";
import { runInGuest } from "../../../../src/flows/guest/run_in_guest.ts";
import { HandClock } from "../../../support/hand_clock.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";

const signal = new AbortController().signal;
const encoder = new TextEncoder();

/** A guest whose one program writes what it is told. */
class Printer extends MemoryGuest {
  readonly #parts: Uint8Array[];
  readonly #exit: GuestExit;
  readonly #clock: HandClock;

  constructor(clock: HandClock, parts: Uint8Array[], exit: GuestExit = { exit_code: 0, signal: null }) {
    super();
    this.#parts = parts;
    this.#exit = exit;
    this.#clock = clock;
  }

  override async exec(_: unknown, sinks: { stdout: ByteSink; stderr: ByteSink }): Promise<GuestExit> {
    for (const part of this.#parts) await sinks.stdout(part);
    await sinks.stderr(encoder.encode("warning\n"));
    this.#clock.advance(1234.4);
    return this.#exit;
  }
}

Deno.test("a small result is whole, with the streams apart", async () => {
  const clock = new HandClock();
  const guest = new Printer(clock, [encoder.encode("één\n")], { exit_code: null, signal: 15 });
  assert.deepEqual(await runInGuest(guest, { argv: ["x"] }, { signal, clock }), {
    exit_code: null,
    signal: 15,
    stdout: "één\n",
    stderr: "warning\n",
    stdout_bytes: 6,
    stderr_bytes: 8,
    duration_ms: 1234,
    channel: "memory",
  });
});

Deno.test("what is cut is declared, and the sinks get all of it", async () => {
  const clock = new HandClock();
  const parts = Array.from({ length: 10 }, (_, index) => encoder.encode(`${index}`.repeat(10)));
  let passed = "";
  const sink = (bytes: Uint8Array): Promise<void> => {
    passed += new TextDecoder().decode(bytes);
    return Promise.resolve();
  };
  const result = await runInGuest(new Printer(clock, parts), { argv: ["x"] }, {
    signal,
    clock,
    limits: { head: 15, tail: 5 },
    sinks: { stdout: sink, stderr: () => Promise.resolve() },
  });
  assert.equal(result.stdout, "000000000011111\n[... 80 bytes are missing here ...]\n99999");
  assert.equal(result.truncated, true);
  assert.equal(result.dropped_bytes, 80);
  assert.equal(result.stdout_bytes, 100);
  assert.equal(passed.length, 100);
});

Deno.test("bytes that are not UTF-8 come beside the text", async () => {
  const clock = new HandClock();
  const guest = new Printer(clock, [new Uint8Array([0xff, 0x0a])]);
  const result = await runInGuest(guest, { argv: ["x"] }, { signal, clock });
  assert.equal(result.stdout_base64, "/wo=");
  assert.equal(result.stderr_base64, undefined);
});
