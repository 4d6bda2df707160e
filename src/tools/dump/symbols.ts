import * as z from "zod/mini";
import { DumpSymbols } from "../../contract/dump_symbols.ts";
import { Path } from "../../contract/path.ts";
import { listSymbols } from "../../debugger/triage/list_symbols.ts";
import { renderSymbols } from "../../debugger/triage/render_symbols.ts";
import { defineTool } from "../define_tool.ts";
import { searchOf, SYMBOL_FIELDS, SYMBOL_HELP } from "./symbol_fields.ts";

/** Lists the symbol files of a dump's stack by name, GUID and age, so that they can be fetched elsewhere. */
export default defineTool({
  name: "dump_symbols",
  family: "dump",
  class: "R",
  summary: "List the symbol files that a crash dump needs, and which are missing",
  input: {
    path: Path,
    ...SYMBOL_FIELDS,
    all: z._default(z.boolean().check(z.describe("Of every module, not only those on the stack")), false),
  },
  positional: ["path"],
  unlisted: ["download", "download_limit_mb"],
  help: SYMBOL_HELP,
  output: DumpSymbols,
  without: ["run", "net", "sys", "write"],
  fetches: "download",
  handle({ path, all, ...wish }, context) {
    const { host, signal } = context;
    return listSymbols(host.files, host.clock, { path, all, signal, ...searchOf(wish, context) });
  },
  render: renderSymbols,
});
