import * as z from "zod/mini";
import { ListLimit } from "../../contract/arguments.ts";
import { DumpFindResult } from "../../contract/dump_find.ts";
import { Path } from "../../contract/path.ts";
import { placeOf, usualDumpPlaces } from "../../debugger/dump_places.ts";
import { findDumps } from "../../debugger/find_dumps.ts";
import { defineTool } from "../tool.ts";

/** Lists the crash dumps below a folder, or in the places where this system leaves them. */
export default defineTool({
  name: "dump_find",
  family: "dump",
  class: "R",
  summary: "List crash dumps below a folder, newest first, counting what was skipped",
  input: { folder: z.optional(Path), limit: z._default(ListLimit, 100) },
  positional: ["folder"],
  output: DumpFindResult,
  without: ["run", "net", "write"],
  handle({ folder, limit }, { host: { os, files, clock, environment }, signal }) {
    const places = folder === undefined
      ? usualDumpPlaces(os, (name) => environment.get(name))
      : [placeOf(folder)];
    return findDumps(files, clock, { places, limit, signal });
  },
});
