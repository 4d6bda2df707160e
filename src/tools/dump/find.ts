import * as z from "zod/mini";
import { ListLimit } from "../../contract/arguments.ts";
import { DumpFindResult } from "../../contract/dump_find.ts";
import { Path } from "../../contract/path.ts";
import { placeOf, usualDumpPlaces } from "../../debugger/dump_places.ts";
import { dumpListText, findDumps, noPlaceExists, refuseNoPlace } from "../../debugger/find_dumps.ts";
import { defineTool } from "../define_tool.ts";

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
  async handle({ folder, limit }, { host: { os, files, clock, environment }, signal, warn }) {
    if (folder !== undefined) {
      return await findDumps(files, clock, { places: [placeOf(folder)], limit, signal });
    }
    const places = usualDumpPlaces(os, (name) => environment.get(name));
    refuseNoPlace(os, places);
    const result = await findDumps(files, clock, { places, limit, signal });
    const missing = noPlaceExists(places, result);
    if (missing !== undefined) warn(missing);
    return result;
  },
  render: dumpListText,
});
