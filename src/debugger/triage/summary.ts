/** The answer in one sentence. */

import type { DumpInspection } from "../../contract/dump.ts";
import type { DumpTriage } from "../../contract/dump_triage.ts";
import { visibleText } from "../../base/visible_text.ts";
import { blamelessReason } from "../../dump/attribution/argument_addresses.ts";
import type { Blame } from "../../dump/attribution/blame.ts";
import { hex } from "../../dump/numbers.ts";
import type { DumpSession } from "../../dump/session.ts";
import type { Located } from "../symbols/located.ts";

/** What happened, and in what. */
export function summaryOf(
  session: DumpSession,
  inspection: DumpInspection,
  exception: DumpTriage["exception"],
  blame: Blame | null,
  located: Located | null,
): string {
  return visibleText(`${whatHappened(session, inspection, exception)}${whereText(blame, located)}`);
}

function whatHappened(
  session: DumpSession,
  inspection: DumpInspection,
  exception: DumpTriage["exception"],
): string {
  if (session.mode === "user") {
    return exception === null ? "No exception recorded: the process was running" : exceptionText(exception);
  }
  const { bugCheck } = session;
  if (bugCheck === null) return "No bug check: the dump was not taken at a crash";
  const name = inspection.bugcheck_name ?? "Bug check";
  const stop = `${name} (${hex(bugCheck.code)})`;
  const reason = blamelessReason(bugCheck.code, bugCheck.parameters[0]);
  if (reason !== null) return `${stop}: ${reason}`;
  return exception === null || exception.synthetic === true ? stop : `${stop}: ${exceptionText(exception)}`;
}

function exceptionText(
  { code, name, access, access_address, detail }: NonNullable<DumpTriage["exception"]>,
): string {
  const touched = access !== undefined
    ? `, ${access} of ${access_address}`
    : detail === undefined
    ? ""
    : `, ${detail}`;
  return `${name ?? "exception"} (${code})${touched}`;
}

const CONFIDENCE = { high: "in", medium: "most likely through", low: "possibly through" } as const;

function whereText(blame: Blame | null, located: Located | null): string {
  if (blame === null) return "";
  const { module, unloaded, confidence } = blame;
  const name = module?.name ?? `${unloaded?.name ?? ""} (unloaded)`;
  const symbol = located?.symbol ?? null;
  const source = symbol?.source ?? null;
  const offset = located?.offset ?? null;
  const place = symbol !== null
    ? `!${symbol.name}${symbol.displacement === 0 ? "" : `+${hex(symbol.displacement)}`}`
    : offset === null
    ? ""
    : `+${hex(offset)}`;
  return ` ${CONFIDENCE[confidence]} ${name}${place}${
    source === null ? "" : ` (${source.file}:${source.line})`
  }`;
}
