/** The journal of a POSIX guest. */

import { isPlainObject, parseJson } from "../../base/json.ts";
import type { EventLevel, GuestEvent } from "../../contract/guest_events.ts";
import type { ProgramRunner } from "../channel.ts";
import { refuseFailed, runCollector } from "../collect.ts";
import type { EventWish, Listing } from "../inspection.ts";
import script from "./collectors/events.sh" with { type: "text" };
import { PLAIN_TEXTS } from "./parts.ts";

/** The least severe priority of syslog that a level takes in. */
const PRIORITIES: Readonly<Record<EventLevel, number>> = {
  critical: 2,
  error: 3,
  warning: 4,
  info: 6,
  debug: 7,
};
const LEVELS: readonly EventLevel[] = [
  ...["critical", "critical", "critical", "error", "warning"] as const,
  ...["info", "info", "debug"] as const,
];
const MESSAGE_CHARACTERS = 4_000;
/** How a shell shows that SIGPIPE ended a program. */
const ENDED_BY_PIPE = 141;

/** Reads the journal's newest entries. */
export async function collectEvents(
  channel: ProgramRunner,
  { since_s, level, source = "", text, limit }: EventWish,
  signal: AbortSignal,
): Promise<Listing<GuestEvent>> {
  const wish = [
    since_s === undefined ? "" : String(Math.ceil(since_s)),
    String(PRIORITIES[level]),
    source,
    text === undefined ? "" : literally(text),
    String(limit + 1),
  ];
  const argv = ["/bin/sh", "-c", script, "hvlab", ...wish];
  const collected = await runCollector(channel, { argv, env: PLAIN_TEXTS }, "events", signal);
  refuseFailed(collected, "events");
  const ended = Number(/^journalctl ended with (\d+)$/m.exec(collected.stderr)?.[1] ?? 0);
  const words = collected.stderr.replace(/^journalctl ended with \d+$/m, "").trim();
  // A pattern that fits no entry makes it end with 1, without a word; 141 says that it had more than was wanted.
  const isWell = ended === 0 || ended === ENDED_BY_PIPE ||
    (text !== undefined && ended === 1 && words === "");
  if (!isWell) refuseFailed({ ...collected, code: ended, stderr: words }, "events");
  return {
    items: collected.stdout.split("\n").flatMap(readEvent),
    truncated: collected.truncated,
    ...(words === "" ? {} : { warning: words }),
  };
}

/** A text as a pattern of PCRE that fits nothing else. */
function literally(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, (sign) => sign.charCodeAt(0) < 128 ? `\\${sign}` : sign);
}

/** Reads one line of the journal's JSON; what is none is passed over, since the last line may be cut. */
export function readEvent(line: string): GuestEvent[] {
  if (line === "") return [];
  let entry: unknown;
  try {
    entry = parseJson(line);
  } catch {
    return [];
  }
  if (!isPlainObject(entry)) return [];
  const field = (name: string): string | undefined => textOf(entry[name]);
  const micros = Number(field("__REALTIME_TIMESTAMP"));
  if (!Number.isFinite(micros)) return [];
  const message = field("MESSAGE") ?? "";
  const unit = field("_SYSTEMD_UNIT");
  const pid = Number(field("_PID") ?? NaN);
  return [{
    time: new Date(micros / 1000).toISOString(),
    level: LEVELS[Number(field("PRIORITY") ?? 6)] ?? "info",
    source: field("SYSLOG_IDENTIFIER") ?? field("_COMM") ?? unit ?? "",
    message: message.slice(0, MESSAGE_CHARACTERS),
    ...(message.length > MESSAGE_CHARACTERS ? { message_truncated: true } : {}),
    ...(Number.isInteger(pid) ? { pid } : {}),
    ...(unit === undefined ? {} : { unit }),
  }];
}

/** A field is a text, or a list of bytes when it is not plain; of several with one name the first counts. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const bytes = value.filter((byte): byte is number => typeof byte === "number");
  return bytes.length === value.length
    ? new TextDecoder().decode(Uint8Array.from(bytes))
    : textOf(value.find((one) => typeof one === "string"));
}
