import * as z from "zod/mini";
import { DumpSymbols } from "../../contract/dump_symbols.ts";
import { Path } from "../../contract/path.ts";
import { listSymbols } from "../../debugger/triage/list_symbols.ts";
import { renderSymbols } from "../../debugger/triage/render_symbols.ts";
import { defineTool } from "../tool.ts";

/** Lists the symbol files of a dump's stack by name, GUID and age, so that they can be fetched elsewhere. */
export default defineTool({
  name: "dump_symbols",
  family: "dump",
  class: "R",
  summary: "List the symbol files that a crash dump needs, and which are missing",
  input: {
    path: Path,
    symbols: z.optional(Path.check(z.describe("Symbol stores, as in _NT_SYMBOL_PATH; local only"))),
    all: z._default(z.boolean().check(z.describe("Of every module, not only those on the stack")), false),
  },
  positional: ["path"],
  output: DumpSymbols,
  without: ["run", "net", "sys", "write"],
  handle: ({ path, symbols, all }, { host, signal }) =>
    listSymbols(host.files, host.clock, { path, symbols, all, signal }),
  render: renderSymbols,
});
