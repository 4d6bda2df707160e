/** Physical memory that remembers which of its pages were asked for. */

import { type Absence, isAbsence } from "../../memory/absence.ts";
import type { PhysicalMemory } from "../../memory/physical.ts";
import { readAcrossFrames } from "../containers/pages.ts";

/** Hands on what another memory holds. */
export class RecordingMemory implements PhysicalMemory {
  /** Frames of the pages that were there when they were asked for. */
  readonly frames: ReadonlySet<number>;
  readonly #memory: PhysicalMemory;
  readonly #frames = new Set<number>();

  constructor(memory: PhysicalMemory) {
    this.#memory = memory;
    this.frames = this.#frames;
  }

  get pageCount(): number {
    return this.#memory.pageCount;
  }

  page(frame: number): Uint8Array | Absence {
    const page = this.#memory.page(frame);
    if (!isAbsence(page)) this.#frames.add(frame);
    return page;
  }

  fileOffsetOf(frame: number): number | null {
    return this.#memory.fileOffsetOf(frame);
  }

  read(address: bigint, length: number): Uint8Array | Absence {
    return readAcrossFrames(this, address, length);
  }
}
