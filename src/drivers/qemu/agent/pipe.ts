/**
 * Reading a FIFO in a guest through its agent without losing a byte.
 *
 * The agent reads with stdio on a non-blocking descriptor: a read of more than there is fails as a whole, and the
 * bytes that it had taken are gone (measured on QEMU 7.2: with 10 bytes inside, a read of 100 gave an error, and
 * the next one found nothing). So we only ask for what is sure to be there, and make sure of it by putting a
 * marker behind the data ourselves: until it has come out, that many bytes are inside.
 */

import { HvError } from "../../../base/errors.ts";
import type { ByteSink } from "../../../guest/channel.ts";
import { refused } from "./errors.ts";
import { MarkerFilter, newMarker } from "./marker.ts";
import { type AgentAnswer, type AgentCommand, bytesIn } from "./protocol.ts";
import type { AgentRounds } from "./rounds.ts";

/** The most that a pipe takes whole or not at all: `PIPE_BUF` of Linux. */
const LONG_MARKER_BYTES = 4096;

/**
 * What a full Linux pipe holds at least. It has 16 pages, and two neighbours hold more than one page together,
 * since a write that fits goes into the last page; the first may be read down to one byte.
 */
const FULL_BYTES = 7 * 4096;

/** After this much the caller gets to look at other things. */
const PORTION_BYTES = 1024 * 1024;

/** The agent's words for a read that finds nothing and a write that finds no room. */
const NOTHING_NOW = /temporarily unavailable/i;

/** What a drain delivered, and whether that was all that had been written when it began. */
export interface Drained {
  bytes: number;
  empty: boolean;
}

/** A FIFO that is open in the agent, with a handle for each direction: stdio cannot turn round on a pipe. */
export class GuestPipe {
  readonly #link: AgentRounds;
  readonly #reader: number;
  readonly #writer: number;
  readonly #filter = new MarkerFilter();

  constructor(link: AgentRounds, handles: { reader: number; writer: number }) {
    this.#link = link;
    this.#reader = handles.reader;
    this.#writer = handles.writer;
  }

  /**
   * The request that finds out whether anything is inside: a read of one byte has nothing to lose. Its answer
   * belongs to the next {@link drain}.
   */
  get probe(): AgentCommand {
    return { name: "guest-file-read", arguments: { handle: this.#reader, count: 1 } };
  }

  /** Delivers what is in the pipe; when a program keeps filling it, a portion of that. */
  async drain(probed: AgentAnswer, sink: ByteSink, signal: AbortSignal): Promise<Drained> {
    let bytes = 0;
    const deliver = async (read: Uint8Array): Promise<void> => {
      const own = this.#filter.take(read);
      bytes += own.length;
      if (own.length > 0) await sink(own);
    };
    if (probed.ok) await deliver(bytesIn(probed.value, "buf-b64"));
    else if (NOTHING_NOW.test(probed.text)) return { bytes, empty: true };
    else throw refused("guest-file-read", probed);
    for (;;) {
      if (!await this.#put(newMarker(), signal)) {
        await deliver(await this.#read(FULL_BYTES, signal));
        if (bytes >= PORTION_BYTES && !this.#filter.waiting) return { bytes, empty: false };
        continue;
      }
      await deliver(await this.#read(this.#filter.sure, signal));
      if (!this.#filter.waiting) return { bytes, empty: true };
      if (await this.#put(newMarker(LONG_MARKER_BYTES), signal)) {
        while (this.#filter.waiting) await deliver(await this.#read(this.#filter.sure, signal));
        return { bytes, empty: true };
      }
      await deliver(await this.#read(FULL_BYTES, signal));
    }
  }

  async #read(count: number, signal: AbortSignal): Promise<Uint8Array> {
    const command = { name: "guest-file-read", arguments: { handle: this.#reader, count } };
    const [answer] = await this.#link.ask([command], { signal, changes: true });
    if (!answer.ok) throw outputLost(count, answer.text);
    const bytes = bytesIn(answer.value, "buf-b64");
    if (bytes.length !== count) throw outputLost(count, `${bytes.length} bytes came`);
    return bytes;
  }

  /**
   * Puts a marker behind the data; false when there is no room, which leaves nothing of it behind. A short marker
   * only reaches the agent's buffer, so that the flush alone tells; the agent then reports the failure once more at
   * the next write, where it means nothing. A long one may fail at either, and always follows a short one.
   */
  async #put(marker: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const handle = this.#writer;
    const [write, flush] = await this.#link.ask([
      { name: "guest-file-write", arguments: { handle, "buf-b64": marker.toBase64() } },
      { name: "guest-file-flush", arguments: { handle } },
    ], { signal, changes: true });
    const failures = marker.length === LONG_MARKER_BYTES ? [write, flush] : [flush];
    for (const answer of failures) {
      if (answer.ok) continue;
      if (NOTHING_NOW.test(answer.text)) return false;
      throw refused("guest-file-write", answer);
    }
    this.#filter.expect(marker);
    return true;
  }
}

function outputLost(count: number, reason: string): HvError {
  return new HvError("hv.io", `Some output of the guest program is lost: ${reason}`, {
    hint: "Let the program write into a file, and copy that out",
    context: { wanted_bytes: count, reason },
  });
}
