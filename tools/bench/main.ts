/** How fast hvlab is, as a table with ratios. No test depends on these numbers. */

import { buildBundle } from "../bundle.ts";
import { measureDumps } from "./dumps.ts";
import { measureGuest } from "./guest.ts";
import { measureGuestCopies } from "./guest_copies.ts";
import { measureHyperV } from "./hyperv.ts";
import { measureConsole } from "./console.ts";
import { measureLinuxDumps } from "./linux_dumps.ts";
import { measureExec } from "./exec.ts";
import { measureList } from "./list.ts";
import { measureDisks } from "./disks.ts";
import { measureMcp } from "./mcp.ts";
import { measureMonitor } from "./monitor.ts";
import { measureOutputMemory } from "./output_memory.ts";
import { type Row, showTable } from "./report.ts";
import { measureSandbox } from "./sandbox.ts";
import { measureStart } from "./start.ts";
import { measureTokens } from "./tokens.ts";
import { measureWarmClone } from "./warm_clone.ts";

const PARTS: readonly { name: string; title: string; measure: () => Promise<Row[]> }[] = [
  { name: "start", title: "Whole process, milliseconds", measure: measureStart },
  { name: "dumps", title: "Crash dumps, milliseconds", measure: measureDumps },
  { name: "disks", title: "Looking at disks, milliseconds", measure: measureDisks },
  { name: "mcp", title: "MCP server, start to first answer, milliseconds", measure: measureMcp },
  { name: "linux-dumps", title: "Linux cores and console text, milliseconds", measure: measureLinuxDumps },
  { name: "tokens", title: "Tool list over MCP, tokens (o200k)", measure: measureTokens },
  { name: "sandbox", title: "Sandbox, image to first guest answer, milliseconds", measure: measureSandbox },
  { name: "list", title: "A list of VMs, milliseconds", measure: measureList },
  { name: "hyperv", title: "Hyper-V through the sidecar, milliseconds", measure: measureHyperV },
  { name: "guest", title: "A command in a guest that is up, milliseconds", measure: measureGuest },
  { name: "guest", title: "256 MiB into a guest, milliseconds", measure: measureGuestCopies },
  { name: "guest", title: "Peak of memory while a guest prints, MiB", measure: measureOutputMemory },
  { name: "console", title: "Consoles, milliseconds", measure: measureConsole },
  { name: "monitor", title: "A monitor's round trip, microseconds", measure: measureMonitor },
  { name: "exec", title: "A program in a running guest, milliseconds", measure: measureExec },
  { name: "clones", title: "Clones of a warm template, milliseconds", measure: measureWarmClone },
];

if (import.meta.main) {
  const wanted = Deno.args.length === 0 ? PARTS : PARTS.filter(({ name }) => Deno.args.includes(name));
  if (wanted.length === 0) {
    console.error(`bench: there are ${PARTS.map(({ name }) => name).join(", ")}`);
    Deno.exit(2);
  }
  await buildBundle();
  for (const { title, measure } of wanted) console.log(showTable(title, await measure()));
}
