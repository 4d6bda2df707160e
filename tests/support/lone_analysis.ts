/** A process that has a debugger read a dump, to be killed meanwhile. Arguments: the debugger, the dump, a folder. */

import { analyzeDumpFile } from "../../src/debugger/analyze/analyze_file.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";

if (import.meta.main) {
  const [program = "", path = "", folder = ""] = Deno.args;
  const programs = new Map([["cdb", program]]);
  await analyzeDumpFile(openDenoHost(programs), {
    ...{ path, programs, kept: `${folder}/kept`, download: false, fresh: true, full: false },
    limits: { totalMs: 600_000, silenceMs: 600_000, memoryBytes: 2 ** 30 },
    signal: new AbortController().signal,
  });
}
