/** All tools: one lazy row each. `core` rows are listed over MCP unless told otherwise. */

import { HvError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Catalogue, Tool } from "./tool.ts";

interface Row {
  name: string;
  core: boolean;
  load: () => Promise<{ default: Tool }>;
}

const ROWS: readonly Row[] = [
  { name: "audit_tail", core: false, load: () => import("./meta/audit_tail.ts") },
  { name: "call", core: true, load: () => import("./meta/call.ts") },
  { name: "capabilities", core: true, load: () => import("./meta/capabilities.ts") },
  { name: "doctor", core: false, load: () => import("./meta/doctor.ts") },
  { name: "op_cancel", core: false, load: () => import("./meta/op_cancel.ts") },
  { name: "op_list", core: false, load: () => import("./meta/op_list.ts") },
  { name: "op_wait", core: true, load: () => import("./meta/op_wait.ts") },
  { name: "plan", core: true, load: () => import("./meta/plan.ts") },
  { name: "read", core: true, load: () => import("./meta/read.ts") },
  { name: "tools_search", core: true, load: () => import("./meta/tools_search.ts") },
  { name: "host_capacity", core: false, load: () => import("./host/capacity.ts") },
  { name: "host_info", core: false, load: () => import("./host/info.ts") },
  { name: "vm_adopt", core: false, load: () => import("./vm/adopt.ts") },
  { name: "vm_cleanup", core: false, load: () => import("./vm/cleanup.ts") },
  { name: "vm_clone", core: false, load: () => import("./vm/clone.ts") },
  { name: "vm_configure", core: false, load: () => import("./vm/configure.ts") },
  { name: "vm_create", core: true, load: () => import("./vm/create.ts") },
  { name: "vm_debug", core: false, load: () => import("./vm/debug.ts") },
  { name: "vm_delete", core: false, load: () => import("./vm/delete.ts") },
  { name: "vm_events", core: false, load: () => import("./vm/events.ts") },
  { name: "vm_export", core: false, load: () => import("./vm/export.ts") },
  { name: "vm_forget", core: false, load: () => import("./vm/forget.ts") },
  { name: "vm_get", core: false, load: () => import("./vm/get.ts") },
  { name: "vm_import", core: false, load: () => import("./vm/import.ts") },
  { name: "vm_list", core: true, load: () => import("./vm/list.ts") },
  { name: "vm_nmi", core: false, load: () => import("./vm/nmi.ts") },
  { name: "vm_orphans", core: false, load: () => import("./vm/orphans.ts") },
  { name: "vm_pause", core: false, load: () => import("./vm/pause.ts") },
  { name: "vm_rename", core: false, load: () => import("./vm/rename.ts") },
  { name: "vm_restart", core: false, load: () => import("./vm/restart.ts") },
  { name: "vm_resume", core: false, load: () => import("./vm/resume.ts") },
  { name: "vm_start", core: true, load: () => import("./vm/start.ts") },
  { name: "vm_stop", core: true, load: () => import("./vm/stop.ts") },
  { name: "vm_wait", core: true, load: () => import("./vm/wait.ts") },
  { name: "sandbox_create", core: true, load: () => import("./sandbox/create.ts") },
  { name: "sandbox_destroy", core: true, load: () => import("./sandbox/destroy.ts") },
  { name: "sandbox_list", core: false, load: () => import("./sandbox/list.ts") },
  { name: "sandbox_run", core: true, load: () => import("./sandbox/run.ts") },
  { name: "checkpoint_create", core: true, load: () => import("./checkpoint/create.ts") },
  { name: "checkpoint_delete", core: false, load: () => import("./checkpoint/delete.ts") },
  { name: "checkpoint_export", core: false, load: () => import("./checkpoint/export.ts") },
  { name: "checkpoint_list", core: false, load: () => import("./checkpoint/list.ts") },
  { name: "checkpoint_rename", core: false, load: () => import("./checkpoint/rename.ts") },
  { name: "checkpoint_restore", core: false, load: () => import("./checkpoint/restore.ts") },
  { name: "device_list", core: false, load: () => import("./device/list.ts") },
  { name: "dvd_set", core: false, load: () => import("./device/dvd_set.ts") },
  { name: "gpu_set", core: false, load: () => import("./device/gpu_set.ts") },
  { name: "serial_set", core: false, load: () => import("./device/serial_set.ts") },
  { name: "tpm_set", core: false, load: () => import("./device/tpm_set.ts") },
  { name: "forward_add", core: false, load: () => import("./net/forward_add.ts") },
  { name: "forward_list", core: false, load: () => import("./net/forward_list.ts") },
  { name: "forward_remove", core: false, load: () => import("./net/forward_remove.ts") },
  { name: "nic_add", core: false, load: () => import("./net/nic_add.ts") },
  { name: "nic_list", core: false, load: () => import("./net/nic_list.ts") },
  { name: "nic_remove", core: false, load: () => import("./net/nic_remove.ts") },
  { name: "nic_set", core: false, load: () => import("./net/nic_set.ts") },
  { name: "switch_create", core: false, load: () => import("./net/switch_create.ts") },
  { name: "switch_delete", core: false, load: () => import("./net/switch_delete.ts") },
  { name: "switch_list", core: false, load: () => import("./net/switch_list.ts") },
  { name: "console_attach", core: false, load: () => import("./console/attach.ts") },
  { name: "console_keys", core: false, load: () => import("./console/keys.ts") },
  { name: "console_mouse", core: false, load: () => import("./console/mouse.ts") },
  { name: "console_screenshot", core: false, load: () => import("./console/screenshot.ts") },
  { name: "console_type", core: false, load: () => import("./console/type.ts") },
  { name: "console_wait", core: false, load: () => import("./console/wait.ts") },
  { name: "serial_read", core: false, load: () => import("./console/serial_read.ts") },
  { name: "serial_write", core: false, load: () => import("./console/serial_write.ts") },
  { name: "disk_attach", core: false, load: () => import("./disk/attach.ts") },
  { name: "disk_chain", core: false, load: () => import("./disk/chain.ts") },
  { name: "disk_check", core: false, load: () => import("./disk/check.ts") },
  { name: "disk_compact", core: false, load: () => import("./disk/compact.ts") },
  { name: "disk_convert", core: false, load: () => import("./disk/convert.ts") },
  { name: "disk_create", core: false, load: () => import("./disk/create.ts") },
  { name: "disk_delete", core: false, load: () => import("./disk/delete.ts") },
  { name: "disk_detach", core: false, load: () => import("./disk/detach.ts") },
  { name: "disk_info", core: false, load: () => import("./disk/info.ts") },
  { name: "disk_merge", core: false, load: () => import("./disk/merge.ts") },
  { name: "disk_resize", core: false, load: () => import("./disk/resize.ts") },
  { name: "image_delete", core: false, load: () => import("./image/delete.ts") },
  { name: "image_drop", core: false, load: () => import("./image/drop.ts") },
  { name: "image_fetch", core: false, load: () => import("./image/fetch.ts") },
  { name: "image_import", core: false, load: () => import("./image/import.ts") },
  { name: "image_list", core: false, load: () => import("./image/list.ts") },
  { name: "image_verify", core: false, load: () => import("./image/verify.ts") },
  { name: "image_warm", core: false, load: () => import("./image/warm.ts") },
  { name: "guest_copy_from", core: true, load: () => import("./guest/copy_from.ts") },
  { name: "guest_copy_to", core: true, load: () => import("./guest/copy_to.ts") },
  { name: "guest_credential", core: false, load: () => import("./guest/credential.ts") },
  { name: "guest_events", core: false, load: () => import("./guest/events.ts") },
  { name: "guest_exec", core: true, load: () => import("./guest/exec.ts") },
  { name: "guest_info", core: false, load: () => import("./guest/info.ts") },
  { name: "guest_processes", core: false, load: () => import("./guest/processes.ts") },
  { name: "guest_registry", core: false, load: () => import("./guest/registry.ts") },
  { name: "guest_script", core: false, load: () => import("./guest/script.ts") },
  { name: "guest_services", core: false, load: () => import("./guest/services.ts") },
  { name: "guest_shell", core: false, load: () => import("./guest/shell.ts") },
  { name: "dump_analyze", core: false, load: () => import("./dump/analyze.ts") },
  { name: "dump_collect", core: false, load: () => import("./dump/collect.ts") },
  { name: "dump_find", core: false, load: () => import("./dump/find.ts") },
  { name: "dump_inspect", core: true, load: () => import("./dump/inspect.ts") },
  { name: "dump_log", core: false, load: () => import("./dump/log.ts") },
  { name: "dump_symbols", core: false, load: () => import("./dump/symbols.ts") },
  { name: "dump_tasks", core: false, load: () => import("./dump/tasks.ts") },
  { name: "dump_triage", core: true, load: () => import("./dump/triage.ts") },
];

/** The tools of this program. */
export const catalogue: Catalogue = catalogueOf(ROWS);

/** Makes a catalogue of rows; tests make small ones. */
export function catalogueOf(rows: readonly Row[]): Catalogue {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const names = [...byName.keys()];
  return {
    names,
    defaultProfile: new Set(rows.filter((row) => row.core).map((row) => row.name)),
    async load(name) {
      const prefix = name.startsWith("hv_") ? "hv_" : "";
      const bare = name.slice(prefix.length);
      const row = byName.get(bare);
      if (row !== undefined) return (await row.load()).default;
      const nearest = suggest(bare, names);
      const near = nearest === undefined ? undefined : prefix + nearest;
      throw new HvError("hv.not_found", `There is no tool "${name}"`, {
        hint: near === undefined ? "List the tools with `hvlab tools`" : `Did you mean "${near}"?`,
        context: { tool: name, ...(near === undefined ? {} : { suggestion: near }) },
      });
    },
    loadAll: () => Promise.all(rows.map(async (row) => (await row.load()).default)),
  };
}
