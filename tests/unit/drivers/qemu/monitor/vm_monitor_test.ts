import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import {
  findBlockers,
  refuseBlocked,
  writableDisks,
} from "../../../../../src/drivers/qemu/checkpoints/disks.ts";
import { saveMemory } from "../../../../../src/drivers/qemu/checkpoints/state_node.ts";
import { VmMonitor } from "../../../../../src/drivers/qemu/monitor/vm_monitor.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { type QemuBench, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

interface Job {
  id: string;
  status: string;
  error?: string;
}

/** A QEMU whose jobs end at once, with an error when one is given; answers what was asked of it. */
async function withJobs(
  { host, context, addVm }: QemuBench,
  jobs: Job[],
  error?: string,
  answers: Record<string, unknown> = {},
): Promise<{ monitor: VmMonitor; asked: string[] }> {
  const record = await addVm();
  await Deno.mkdir(record.runtime, { recursive: true });
  const start = (args: { "job-id": string }): object => {
    jobs.push({ id: args["job-id"], status: "concluded", ...(error === undefined ? {} : { error }) });
    return {};
  };
  const asked = await listenAsMonitor(host, new RuntimeFolder(record.runtime).monitor("calls"), {
    uuid: uuidOf(VM_ID),
    answers: {
      "snapshot-save": start,
      "snapshot-load": start,
      "query-jobs": () => jobs,
      "job-dismiss": ({ id }: { id: string }) => {
        jobs.splice(jobs.findIndex((job) => job.id === id), 1);
        return {};
      },
      "query-named-block-nodes": [],
      "migrate-set-capabilities": {},
      "blockdev-add": {},
      "blockdev-del": {},
      ...answers,
    },
  });
  return { monitor: new VmMonitor(context, record), asked };
}

Deno.test("a job that has ended is taken off QEMU's list, whether it went well or not", () =>
  withQemu(async (bench) => {
    const jobs: Job[] = [];
    const { monitor } = await withJobs(bench, jobs);
    await monitor.runJob("snapshot-save", { tag: "x" });
    assert.deepEqual(jobs, []);
  }));

Deno.test("a job's failure is QEMU's words, and a disk that takes no more is an input-output error", () =>
  withQemu(async (bench) => {
    for (
      const [words, code] of [
        ["Error -22 while loading VM state", "hv.job_failed"],
        ["Error while writing VM state: Input/output error", "hv.io"],
        ["Could not create snapshot: No space left on device", "hv.io"],
      ] as const
    ) {
      const jobs: Job[] = [];
      const { monitor } = await withJobs(bench, jobs, words);
      const failure = await failureOf(code, () => monitor.runJob("snapshot-load", { tag: "x" }));
      assert.deepEqual([failure.context.qemu, failure.context.command], [words, "snapshot-load"]);
      assert.deepEqual(jobs, []);
    }
  }));

Deno.test("jobs of a killed call are taken off the list, others' stay", () =>
  withQemu(async (bench) => {
    const jobs: Job[] = [{ id: "hvlab-1", status: "concluded" }, { id: "backup", status: "running" }];
    const { monitor } = await withJobs(bench, jobs);
    await monitor.finishOldJobs();
    assert.deepEqual(jobs.map(({ id }) => id), ["backup"]);
  }));

Deno.test("the job of a killed merge is not waited for: it ends only with the next merge", () =>
  withQemu(async (bench) => {
    const jobs: Job[] = [{ id: "hvlab-merge-01234567", status: "ready" }, {
      id: "hvlab-1",
      status: "concluded",
    }];
    const { monitor } = await withJobs(bench, jobs);
    await monitor.finishOldJobs();
    assert.deepEqual(jobs.map(({ id }) => id), ["hvlab-merge-01234567"]);
  }));

Deno.test("memory goes through a node of its own that is gone afterwards, also when the job fails", () =>
  withQemu(async (bench) => {
    const jobs: Job[] = [];
    const saved: unknown[] = [];
    const added: unknown[] = [];
    const { monitor, asked } = await withJobs(bench, jobs, "no", {
      "blockdev-add": (args: unknown) => {
        added.push(args);
        return {};
      },
      "query-named-block-nodes": () => added.map(() => ({ "node-name": "state" })),
      "blockdev-del": () => {
        added.pop();
        return {};
      },
      "snapshot-save": (args: { "job-id": string; devices: unknown; vmstate: unknown }) => {
        saved.push([args.vmstate, args.devices]);
        jobs.push({ id: args["job-id"], status: "concluded", error: "no" });
        return {};
      },
    });
    await failureOf("hv.job_failed", () => saveMemory(monitor, "ckpt-1", "/a,b", ["disk-0"]));
    assert.deepEqual(saved, [["state", ["state", "disk-0"]]]);
    assert.deepEqual(added, []);
    assert.ok(asked.indexOf("migrate-set-capabilities") < asked.indexOf("snapshot-save"));
  }));

Deno.test("disks that keep no snapshots and devices that cannot be saved are found and named", () =>
  withQemu(async (bench) => {
    const disk = (node: string, drv: string, ro: boolean, qdev: string): object => ({
      qdev,
      device: "",
      inserted: { "node-name": node, drv, ro, file: `/disks/${node}` },
    });
    const { monitor } = await withJobs(bench, [], undefined, {
      "query-block": [
        disk("disk-0", "qcow2", false, "/machine/peripheral/virtio-disk-0/virtio-backend"),
        disk("scratch", "raw", false, "/machine/peripheral/scratch/virtio-backend"),
        disk("#block12", "raw", false, "/machine/system.flash1"),
        disk("cd", "raw", true, "/machine/peripheral/cd"),
        { device: "empty-drive" },
      ],
      "query-migrate": { "blocked-reasons": ["non-migratable device: 0000:00:07.0/1/usb-mtp"] },
    });
    const disks = await writableDisks(monitor);
    assert.deepEqual(disks.map(({ node, device }) => [node, device]), [
      ["disk-0", "virtio-disk-0"],
      ["scratch", "scratch"],
      ["#block12", "system.flash1"],
    ]);
    const blockers = await findBlockers(monitor, disks, true);
    const failure = await failureOf("hv.unsupported", () => refuseBlocked(monitor, "save", blockers));
    for (const name of ['"scratch"', '"system.flash1"', "usb-mtp"]) {
      assert.ok(failure.message.includes(name), name);
    }
    assert.match(failure.hint ?? "", /qcow2/);
    assert.equal((await findBlockers(monitor, disks, false)).length, 2, "a device counts for memory alone");
  }));

Deno.test("a QEMU that has ended is unavailable, not silently done", () =>
  withQemu(async ({ context, addVm }) => {
    const monitor = new VmMonitor(context, await addVm());
    await failureOf("hv.unavailable", () => monitor.tell("stop"));
  }));

Deno.test("a shared folder is named as one, whichever way the guest took", () =>
  withQemu(async (bench) => {
    const reasons = [
      "non-migratable device: 0000:00:08.0/vhost-user-fs",
      "Migration is disabled when VirtFS export path '/srv' is mounted in the guest using mount_tag 'hvlab-share-0'",
    ];
    const { monitor } = await withJobs(bench, [], undefined, {
      "query-migrate": { "blocked-reasons": reasons },
    });
    const blockers = await findBlockers(monitor, [], true);
    assert.deepEqual(blockers, reasons.map((words) => `a shared folder is open to the guest (${words})`));
  }));
