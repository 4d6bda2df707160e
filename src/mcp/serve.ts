/** `hvlab mcp`: a server on stdin and stdout that ends when its host does. */

import type { Host } from "../host/host.ts";
import type { ConnectionOptions } from "./connection.ts";
import { watchParent } from "./parent.ts";
import { readToolsets } from "./selection.ts";

/** How a server is started. */
export interface ServeOptions extends Omit<ConnectionOptions, "selection" | "closing"> {
  toolsets: readonly string[];
  readOnly: boolean;
}

/** Running calls get this long to take their work back; then the server ends by force. */
const CLOSE_LIMIT_MS = 3_000;

/** Exit codes: everything ended by itself, or something had to be left behind. */
const CLEAN = 0;
const FORCED = 3;

/**
 * Serves until stdin ends, the output breaks, a signal comes or the parent is gone, and answers the exit code: 0
 * when all calls have ended and were recorded, 3 when some had to be left. Throws `hv.usage` for an unknown toolset.
 * Stdout and the signals are taken before the SDK is loaded, so that nothing can write between or end us halfway.
 */
export async function serveMcp(options: ServeOptions): Promise<number> {
  const { host, toolsets, readOnly } = options;
  const selection = { toolsets: readToolsets(toolsets), readOnly };
  host.terminal.reserveStdout();
  const closing = new AbortController();
  const end = (): void => closing.abort();
  const stopListening = host.terminal.onInterrupt(end);
  const stopWatching = watchParent(host, end);
  try {
    const { openConnection } = await import("./connection.ts");
    const connection = openConnection({ ...options, selection, closing });
    await aborted(closing.signal);
    return await closeInTime(host, () => connection.close());
  } finally {
    stopWatching();
    stopListening();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function closeInTime({ clock }: Host, close: () => Promise<boolean>): Promise<number> {
  const done = new AbortController();
  const late = clock.sleep(CLOSE_LIMIT_MS, done.signal).then(() => false, () => false);
  const clean = await Promise.race([close().catch(() => false), late]);
  done.abort();
  return clean ? CLEAN : FORCED;
}
