import * as z from "zod/mini";
import { DumpTriage } from "../../contract/dump_triage.ts";
import { Path } from "../../contract/path.ts";
import { renderTriage } from "../../debugger/triage/render.ts";
import { triageDumpFile } from "../../debugger/triage/triage_file.ts";
import { defineTool } from "../tool.ts";

/** Says why a machine or a process stopped, from its dump or console text alone: no debugger is needed. */
export default defineTool({
  name: "dump_triage",
  family: "dump",
  class: "R",
  summary: "Say why Windows, Linux or a program crashed: culprit, stack",
  input: {
    path: Path,
    symbols: z.optional(Path.check(z.describe("Symbol stores, as in _NT_SYMBOL_PATH; local only"))),
    full: z._default(z.boolean(), false),
  },
  positional: ["path"],
  output: DumpTriage,
  without: ["run", "net", "sys", "write"],
  handle: ({ path, symbols, full }, { host, signal }) =>
    triageDumpFile(host.files, host.clock, { path, symbols, full, signal }),
  render: renderTriage,
});
