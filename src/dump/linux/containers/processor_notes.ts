/** What the notes of a core tell about each processor. */

import { at } from "../../layout.ts";
import type { CoreMachine, SavedRegisters } from "../architecture/core_machine.ts";
import type { Note } from "./notes.ts";

/** NT_PRSTATUS, as QEMU and crash kernels write it. `pr_pid` is no pid in QEMU's cores. */
const PRSTATUS = { registers: at(112, 8, "elf-specification") } as const;
/** QEMU's own record of an x86-64 processor. The control registers end it, a shadow GS base may follow. */
const QEMU_STATE = {
  version: at(0, 4, "qemu"),
  control: at(392, 5 * 8, "qemu"),
} as const;

const NOTE_REGISTERS = 1;
const QEMU_VERSION = 1;

/** One processor at the moment of the dump. */
export interface CoreProcessor {
  readonly saved: SavedRegisters;
  /** CR3 and CR2 from QEMU's record, which only x86-64 has. */
  readonly pageTables: bigint | null;
  readonly faultAddress: bigint | null;
}

/** Whether a note holds the registers of a processor. */
export function isRegisterNote({ name, type }: Note): boolean {
  return name === "CORE" && type === NOTE_REGISTERS;
}

/** The processors in the order of their notes, which is their numbering. */
export function readProcessors(notes: readonly Note[], machine: CoreMachine): CoreProcessor[] {
  const saved: SavedRegisters[] = [];
  const control: DataView[] = [];
  const { registers } = PRSTATUS;
  for (const note of notes) {
    const { name, data } = note;
    if (isRegisterNote(note) && data.length >= registers.offset + machine.registerBytes) {
      saved.push(machine.readRegisters(data.subarray(registers.offset)));
    }
    const state = QEMU_STATE.control;
    if (name === "QEMU" && data.length >= state.offset + state.size) {
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      if (view.getUint32(QEMU_STATE.version.offset, true) === QEMU_VERSION) control.push(view);
    }
  }
  return saved.map((registers, index) => ({
    saved: registers,
    pageTables: controlRegister(control[index], 3),
    faultAddress: controlRegister(control[index], 2),
  }));
}

function controlRegister(state: DataView | undefined, number: number): bigint | null {
  return state === undefined ? null : state.getBigUint64(QEMU_STATE.control.offset + 8 * number, true);
}

/** The text of the VMCOREINFO note; null when there is none. */
export function vmcoreinfoOf(notes: readonly Note[]): string | null {
  const note = notes.find(({ name, data }) => name === "VMCOREINFO" && data.length > 0);
  return note === undefined ? null : new TextDecoder("latin1").decode(note.data);
}
