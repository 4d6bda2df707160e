/** What a person at a machine has: its screen, keyboard and mouse, its serial line, and the button that interrupts it. */

import type { Picture } from "../base/png.ts";
import type { CallScope } from "./call_scope.ts";
import type { KeyStroke } from "./keyboard.ts";

/** The buttons of a mouse. */
export type MouseButton = "left" | "middle" | "right";

/** One step of a mouse. */
export type PointerStep =
  /** To a pixel of the screen, counted from its top left. */
  | { kind: "place"; x: number; y: number }
  /** From where it is, right and down. */
  | { kind: "move"; x: number; y: number }
  | { kind: "button"; button: MouseButton; down: boolean }
  /** One notch of the wheel. */
  | { kind: "wheel"; up: boolean };

/** Feature `console`. A VM in whose state there is nothing to see or press is `hv.conflict`. */
export interface ConsoleAbilities {
  /** What the screen shows now. Throws `hv.unsupported` for a VM without a screen. */
  screen(id: string, signal: AbortSignal): Promise<Picture>;
  /** Presses keys in this order, no faster than a guest takes them. The VM must run. */
  press(id: string, strokes: readonly KeyStroke[], scope: CallScope): Promise<void>;
  /**
   * Moves the mouse. The VM must run. Throws `hv.usage` for a place beside the screen, `hv.unsupported` when the
   * guest has no mouse of the kind that a step needs.
   */
  point(id: string, steps: readonly PointerStep[], scope: CallScope): Promise<void>;
}

/** What a guest wrote to its serial line since its last start. Offsets count from that start. */
export interface SerialLog extends Disposable {
  /** How much it wrote. */
  readonly size: number;
  /** What comes before this offset is no longer kept. */
  readonly kept_from: number;
  /** Bytes from an offset on; fewer than asked only at the end. */
  read(offset: number, length: number): Uint8Array;
}

/** A serial line that is held. Disposing gives it back. */
export interface SerialLine extends AsyncDisposable {
  /** What the guest writes next; `null` when its machine has ended. */
  read(): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): Promise<void>;
}

/** Feature `serial`. */
export interface SerialAbilities {
  /** Opens the log, also of a VM that is off; `undefined` when it was never started. */
  log(id: string): Promise<SerialLog | undefined>;
  /**
   * Takes hold of the line of a VM that is on. One at a time has it: others get `hv.conflict` with the reason
   * `line_held`. The log goes on being written.
   */
  attach(id: string, signal: AbortSignal): Promise<SerialLine>;
}

/** Feature `nmi`. */
export interface NmiAbilities {
  /** Interrupts a running guest in a way that it cannot mask; what it does then is up to it. */
  inject(id: string, scope: CallScope): Promise<void>;
}

/** A debugger's way into a machine. */
export interface DebugStub {
  /** The socket on which the GDB remote protocol is spoken. */
  socket: string;
}

/** Feature `debug_stub`. Whoever reaches the stub controls the whole guest. */
export interface DebugStubAbilities {
  /** Opens the stub on a socket that only this user reaches. An open one is answered as it is. */
  open(id: string, scope: CallScope): Promise<DebugStub>;
  /** Closes it; a debugger that is there loses its link. Answers whether it was open. */
  close(id: string, scope: CallScope): Promise<boolean>;
}
