import * as z from "zod/mini";
import { visibleText } from "../../base/visible_text.ts";
import { ACCESS_FIELDS, ACCESS_HELP, GUEST_ACCESS } from "../../contract/guest_access.ts";
import { EventLevel, type GuestEvent, GuestEvents } from "../../contract/guest_events.ts";
import { VmRef } from "../../contract/names.ts";
import { inspectGuest } from "../../flows/guest/inspect_guest.ts";
import { cutList } from "../../guest/collect.ts";
import { defineTool } from "../define_tool.ts";

/** A text that the guest's own programs get, which take it to its first zero byte. */
const SearchText = z.string().check(
  z.minLength(1),
  z.maxLength(500),
  z.regex(/^[^\0]*$/, "it holds no NUL character"),
);

/** Reads a guest's journal or event log, newest first. */
export default defineTool({
  name: "guest_events",
  family: "guest",
  class: "R",
  summary: "Read a guest's journal or event log, newest first",
  input: {
    vm: VmRef,
    since_s: z.optional(z.number().check(z.minimum(1), z.maximum(366 * 86_400))),
    level: z._default(EventLevel, "debug"),
    source: z.optional(SearchText),
    text: z.optional(SearchText),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(2000)), 100),
    ...GUEST_ACCESS,
  },
  positional: ["vm"],
  unlisted: ACCESS_FIELDS,
  help: {
    since_s: "How far back",
    level: "This level and worse",
    source: "Only what this program, unit or provider wrote",
    text: "Only messages with this text",
    limit: "How many at most",
    ...ACCESS_HELP,
  },
  output: GuestEvents,
  uses: ["driver", "vm"],
  feature: "guest",
  timed: true,
  handle: (
    { since_s, level, source, text, limit, channel, user, password_from_env },
    context,
  ) =>
    inspectGuest(context, { channel, user, password_from_env }, async (way, inspection) => {
      const wish = { since_s, level, source, text, limit };
      const { items, truncated, warning } = await inspection.events(way, wish, context.signal);
      if (warning !== undefined) context.warn(warning);
      const { items: events, truncated: isCut } = cutList(items, limit, truncated);
      return { events, ...(isCut === undefined ? {} : { truncated: isCut }) };
    }),
  render: ({ events, truncated, channel }) =>
    [
      ...events.map(lineOf),
      ...(events.length === 0 ? [`No events, asked over ${channel}`] : []),
      ...(truncated === true ? [`The ${events.length} newest; there are more: --limit`] : []),
    ].join("\n"),
});

function lineOf({ time, level, source, pid, event_id: id, message }: GuestEvent): string {
  const number = id ?? pid;
  return visibleText(
    `${time}  ${level.padEnd(8)}  ${source}${number === undefined ? "" : `[${number}]`}: ${message}`,
  );
}
