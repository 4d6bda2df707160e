import * as z from "zod/mini";
import { DumpCollection } from "../../contract/dump_collect.ts";
import { VmRef } from "../../contract/names.ts";
import { Path } from "../../contract/path.ts";
import { collectDumps } from "../../flows/crashes/collect_dumps.ts";
import { defineTool } from "../define_tool.ts";

/** Fetches a VM's crash dumps: the files that its guest keeps, and its memory from outside. */
export default defineTool({
  name: "dump_collect",
  family: "dump",
  class: "X",
  summary: "Fetch a VM's crash dumps: its guest's files, and its memory from outside",
  input: {
    vm: VmRef,
    output: Path,
    guest: z._default(z.boolean(), true),
    memory: z._default(z.boolean(), true),
    sparse: z._default(z.boolean(), false),
    overwrite: z._default(z.boolean(), false),
  },
  positional: ["vm"],
  unlisted: ["sparse", "overwrite"],
  help: {
    output: "The folder that gets the files; it is made when it is not there",
    guest: "Files that the guest keeps: the configured dump and small ones, /proc/vmcore, /var/crash",
    memory: "The memory as the host sees it, where the driver can",
    sparse: "Of a Linux guest's memory only what triage, log and tasks read",
    overwrite: "Replace files of earlier calls",
  },
  output: DumpCollection,
  uses: ["driver", "vm"],
  timed: true,
  opens: ({ output }) => [output],
  plan: ({ output, guest, memory }, { vm }) =>
    Promise.resolve({
      summary:
        `Fetch ${
          [guest ? "the guest's dumps" : "", memory ? "its memory" : ""].filter(Boolean).join(" and ")
        } ` +
        `of "${vm.name}" into "${output}"`,
      losses: [],
      fingerprint: { id: vm.id, state: vm.state, pid: vm.pid ?? null },
    }),
  handle: (
    { output, guest, memory, sparse, overwrite },
    { host, driver, config: { policy: { channels } }, vm, signal, progress },
  ) =>
    collectDumps(host, driver, vm, { output, guest, memory, sparse, overwrite, channels }, {
      signal,
      progress,
    }),
  render: ({ name, files, skipped }) =>
    [
      files.length === 0 ? `"${name}" keeps no dump` : `${files.length} from "${name}"`,
      ...files.map((file) =>
        `  ${file.path}  ${
          file.failure ?? [file.dump_kind, file.os_version, file.bugcheck_name].filter(Boolean).join("  ")
        }`
      ),
      ...skipped.map(({ source, guest_path, message }) => `skipped  ${guest_path ?? source}: ${message}`),
    ].join("\n"),
});
