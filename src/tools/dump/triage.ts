import * as z from "zod/mini";
import { DumpTriage } from "../../contract/dump_triage.ts";
import { Path } from "../../contract/path.ts";
import { renderTriage } from "../../debugger/triage/render.ts";
import { triageDumpFile } from "../../debugger/triage/triage_file.ts";
import { defineTool } from "../define_tool.ts";
import { searchOf, SYMBOL_FIELDS, SYMBOL_HELP } from "./symbol_fields.ts";

/** Says why a machine or a process stopped, from its dump or console text alone: no debugger is needed. */
export default defineTool({
  name: "dump_triage",
  family: "dump",
  class: "R",
  summary: "Say why Windows, Linux or a program crashed: culprit, stack",
  input: {
    path: Path,
    ...SYMBOL_FIELDS,
    full: z._default(z.boolean(), false),
  },
  positional: ["path"],
  unlisted: ["download", "download_limit_mb"],
  help: SYMBOL_HELP,
  output: DumpTriage,
  without: ["run", "net", "sys", "write"],
  fetches: "download",
  handle({ path, full, ...wish }, context) {
    const { host, signal } = context;
    return triageDumpFile(host.files, host.clock, { path, full, signal, ...searchOf(wish, context) });
  },
  render: renderTriage,
});
