import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { writeBond } from "../../../../../src/drivers/qemu/disks/bonds.ts";
import { mergeLive } from "../../../../../src/drivers/qemu/disks/live_merge.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const KEY = "01234567";

Deno.test("a machine that does not go over to the parent keeps its disk in the record, and goes on", () =>
  withQemu(async ({ host, context, records, scope, addVm }) => {
    const [path, parent] = [`${host.root}/child.qcow2`, `${host.root}/base.img`];
    const { runtime } = await addVm({ disks: [{ key: KEY, path }] });
    await Deno.mkdir(runtime, { recursive: true });
    await writeBond(context, {
      path,
      parent: { path: parent, size_bytes: 512, modified: null, sha256: "0".repeat(64) },
      merging: true,
    });
    const job = { "id": `hvlab-merge-${KEY}`, "status": "ready", "current-progress": 5, "total-progress": 5 };
    const asked = await listenAsMonitor(host, new RuntimeFolder(runtime).monitor("calls"), {
      uuid: uuidOf(VM_ID),
      answers: {
        "query-block": [{
          qdev: `/machine/peripheral/attached-${KEY}/virtio-backend`,
          inserted: { "node-name": `hvdisk-${KEY}`, "file": path, "drv": "qcow2", "ro": false },
        }],
        "query-jobs": [job],
        "stop": {},
        "cont": {},
        // The command that goes over is missing, so that it fails.
      },
    });
    const layer = (file: string) => ({
      path: file,
      header: { format: "qcow2", type: "dynamic", size: 512n } as const,
    });
    await failureOf("hv.unsupported", () => mergeLive(context, VM_ID, layer(path), layer(parent), scope));
    assert.equal((await records.get(VM_ID)).disks?.[0]?.path, path);
    assert.deepEqual(asked.filter((name) => ["stop", "job-complete", "cont"].includes(name)), [
      "stop",
      "job-complete",
      "cont",
    ]);
  }));
