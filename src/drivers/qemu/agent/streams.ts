/** Where the agent finds the streams of a program in the guest, best place first. */

import { FIFO_FOLDERS, PIPE_DESCRIPTORS } from "./scripts.ts";

/** The streams of a started program, and the gate through which it is let begin. */
export type StreamName = "out" | "err" | "gate";

/** One place for a program's streams. */
export interface StreamPlace {
  /** The path of its FIFOs without their endings; empty where it has none. */
  readonly base: string;
  /** Where the agent opens a stream of the program with this process id. */
  pathOf(name: StreamName, pid: number): string;
}

/** Pipes that the guest's shell makes by itself; they have no name and end with the program. */
export const PIPES: StreamPlace = {
  base: "",
  pathOf: (name, pid) => `/proc/${pid}/fd/${PIPE_DESCRIPTORS[name]}`,
};

const ENDINGS = { out: "o", err: "e", gate: "i" } as const;

function fifosIn(folder: string): StreamPlace {
  const base = `${folder}/.hvlab-${crypto.randomUUID()}`;
  return { base, pathOf: (name) => `${base}.${ENDINGS[name]}` };
}

/** What is tried, in this order. */
export const STREAM_PLACES: readonly (() => StreamPlace)[] = [
  () => PIPES,
  ...FIFO_FOLDERS.map((folder) => () => fifosIn(folder)),
];
