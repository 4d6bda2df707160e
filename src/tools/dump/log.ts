import * as z from "zod/mini";
import { DumpLog } from "../../contract/dump_log.ts";
import { Path } from "../../contract/path.ts";
import { readDumpLog, renderDumpLog } from "../../debugger/linux/read_log.ts";
import { defineTool } from "../define_tool.ts";

/** Shows the kernel log that the core of a Linux machine holds. */
export default defineTool({
  name: "dump_log",
  family: "dump",
  class: "R",
  summary: "Show the kernel log out of a Linux core, as dmesg prints it",
  input: {
    path: Path,
    tail: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000), z.describe("Last lines only"))),
  },
  positional: ["path"],
  output: DumpLog,
  without: ["run", "net", "env", "sys", "write"],
  handle: ({ path, tail }, { host, signal }) => readDumpLog(host.files, host.clock, { path, tail, signal }),
  render: renderDumpLog,
});
