/** A person's terminal on a guest's serial line. */

import type { SerialLine, SerialLog } from "../../drivers/console_abilities.ts";
import type { RawTerminal } from "../../host/raw_terminal.ts";
import { readPart } from "./serial_text.ts";

/** Ctrl-], as for telnet and virsh. */
const DETACH = 0x1d;
/** What was written before shows where one is, such as at a prompt. */
const SHOWN_BEFORE_BYTES = 1024;

/** How it ended. */
export type AttachEnd = "detached" | "machine_ended" | "terminal_gone";

/** Carries bytes both ways until the detach key, the machine's end or the signal, whose reason is thrown. */
export async function attachTerminal(
  terminal: RawTerminal,
  line: SerialLine,
  log: SerialLog | undefined,
  name: string,
  signal: AbortSignal,
): Promise<AttachEnd> {
  const say = (text: string): Promise<void> =>
    terminal.write(new TextEncoder().encode(`[hvlab: ${text}]\r\n`));
  await say(`"${name}". Ctrl-] detaches. ${sizeNote(terminal)}`);
  const before = log === undefined ? "" : readPart(log, undefined, SHOWN_BEFORE_BYTES).text;
  await terminal.write(new TextEncoder().encode(before.slice(before.indexOf("\n") + 1)));
  terminal.onResize(() => void say(sizeNote(terminal)).catch(() => {}));
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const leave = (): void => over.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    signal.throwIfAborted();
    const ended = await Promise.race([show(line, terminal), send(terminal, line), over.promise]);
    await terminal.write(new TextEncoder().encode("\r\n"));
    return ended;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function show(line: SerialLine, terminal: RawTerminal): Promise<AttachEnd> {
  for (;;) {
    const bytes = await line.read();
    if (bytes === null) return "machine_ended";
    await terminal.write(bytes);
  }
}

async function send(terminal: RawTerminal, line: SerialLine): Promise<AttachEnd> {
  for (;;) {
    const bytes = await terminal.read();
    if (bytes === null) return "terminal_gone";
    const at = bytes.indexOf(DETACH);
    const typed = at < 0 ? bytes : bytes.subarray(0, at);
    if (typed.length > 0) await line.write(typed);
    if (at >= 0) return "detached";
  }
}

/** A serial line carries no size, so that the guest must be told by hand. */
function sizeNote(terminal: RawTerminal): string {
  const size = terminal.size();
  return size === undefined
    ? "The terminal does not tell its size"
    : `For this terminal's size: stty rows ${size.rows} cols ${size.columns}`;
}
