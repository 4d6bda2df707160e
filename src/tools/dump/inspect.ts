import { DumpInspection } from "../../contract/dump.ts";
import { Path } from "../../contract/path.ts";
import { inspectDumpFile } from "../../debugger/inspect_file.ts";
import { renderInspection } from "../../dump/render.ts";
import { defineTool } from "../define_tool.ts";

/** Says what a crash dump's header tells: the stop code and its meaning, the system, the kind of dump. */
export default defineTool({
  name: "dump_inspect",
  family: "dump",
  class: "R",
  summary: "Read a crash dump's header: stop code, arguments, system",
  input: { path: Path },
  positional: ["path"],
  output: DumpInspection,
  without: ["run", "net", "env", "sys", "write"],
  instant: true,
  handle: async ({ path }, { host, signal }) =>
    (await inspectDumpFile(host.files, host.clock, path, signal)).inspection,
  render: renderInspection,
});
