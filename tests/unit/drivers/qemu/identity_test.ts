import assert from "node:assert/strict";
import { readIdentity } from "../../../../src/drivers/qemu/identity.ts";
import { asVm, observe } from "../../../../src/drivers/qemu/observe.ts";
import { RuntimeFolder } from "../../../../src/drivers/qemu/runtime_folder.ts";
import { uuidOf } from "../../../../src/base/ids.ts";
import { OTHER_ID, processOf, type QemuBench, VM_ID, withQemu } from "../../../support/qemu_context.ts";
import { listenAsMonitor, type MonitorScript } from "../../../support/scripted_monitor.ts";

/** A VM whose calls monitor is scripted; answers what was asked. */
async function withMonitor(bench: QemuBench, script: Partial<MonitorScript> = {}): Promise<string[]> {
  const runtime = RuntimeFolder.of(bench.host, VM_ID);
  await Deno.mkdir(runtime.path, { recursive: true });
  await Deno.writeTextFile(runtime.pidFile, "77\n");
  return await listenAsMonitor(bench.host, runtime.monitor("calls"), { uuid: uuidOf(VM_ID), ...script });
}

Deno.test("a VM runs when its monitor answers with its uuid; then no process is asked", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench, { kvm: true });
    const seen = await observe(bench.context, record, bench.scope.signal);
    assert.equal(seen.state, "running");
    const vm = asVm(record, seen);
    assert.deepEqual([vm.acceleration, vm.pid, vm.state_reason], ["kvm", 77, undefined]);
  }));

Deno.test("a crashed VM says why", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench, { status: "guest-panicked" });
    const { state, reason, alive } = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([state, alive], ["crashed", true]);
    assert.match(reason ?? "", /kernel crashed/);
  }));

Deno.test("a Windows that crashed says with which bug check, by the processor that knows", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const answers = {
      "query-cpus-fast": [
        { "cpu-index": 0, "qom-path": "/machine/unattached/device[0]" },
        { "cpu-index": 1 },
        {
          "qom-path": "/machine/unattached/device[2]",
        },
      ],
      // As QEMU 7.2 answers, but for the numbers.
      "qom-get": ({ path }: { path: string }) =>
        path.endsWith("[2]")
          ? { type: "hyper-v", arg1: 0x139, arg2: 3, arg3: 0, arg4: "0xfffff80012345678" }
          : {},
    };
    await withMonitor(bench, { status: "guest-panicked", answers });
    const { state, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([state, reason], [
      "crashed",
      "Windows reported the bug check 0x00000139 KERNEL_SECURITY_CHECK_FAILURE " +
      "(0x3, 0x0, 0xfffff80012345678, not told)",
    ]);
  }));

Deno.test("a write that fails for lack of space is told as a full disk", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const answers = { "query-block": [{ device: "", "io-status": "ok" }, { "io-status": "nospace" }] };
    await withMonitor(bench, { status: "io-error", answers });
    const { state, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([state, reason], ["io_error", "The host's disk is full"]);
  }));

Deno.test("a pid file is believed only where the record agrees; else the process table is asked", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench);
    const runtime = new RuntimeFolder(record.runtime);
    bench.host.processes.table.push(
      { pid: 4711, started: "Sun Nov 29 11:00:00 2026", args: "sleep 1000" },
      processOf(bench.context, VM_ID, { pid: 99 }),
    );
    for (const text of ["", "-1", "abc", "2147483648", "4711"]) {
      await Deno.writeTextFile(runtime.pidFile, text);
      const seen = await observe(bench.context, record, bench.scope.signal);
      assert.deepEqual([seen.state, seen.pid], ["running", 99], JSON.stringify(text));
    }
    await Deno.remove(runtime.pidFile);
    const seen = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([seen.state, seen.pid], ["running", 99]);
  }));

Deno.test("a VM without socket and process is off, whatever its record remembers", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    bench.host.processes.table.push({ pid: 77, started: "Sun Nov 29 11:30:00 2026", args: "sleep 1000" });
    const seen = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual(seen, { state: "off", alive: false });
  }));

Deno.test("a socket that a dead QEMU left is no life", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench);
    bench.host.sockets.silence(new RuntimeFolder(record.runtime).monitor("calls"));
    assert.equal((await observe(bench.context, record, bench.scope.signal)).state, "off");
  }));

Deno.test("a living process whose socket is gone is unknown with the reason, never off", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    bench.host.processes.table.push(processOf(bench.context, VM_ID));
    const { state, alive, pid, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([state, alive, pid], ["unknown", true, 77]);
    assert.match(reason ?? "", /socket is gone.*process 77/);
  }));

Deno.test("a process that has just been started is starting, unless its folder is gone", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const started = new Date(bench.host.clock.now() - 1000).toString().replace(
      /^(\w+ \w+ \d+) (\d+) ([\d:]+).*$/,
      "$1 $3 $2",
    );
    bench.host.processes.table.push(processOf(bench.context, VM_ID, { started }));
    await Deno.mkdir(record.runtime, { recursive: true });
    assert.equal((await observe(bench.context, record, bench.scope.signal)).state, "starting");
    await Deno.remove(record.runtime);
    assert.equal((await observe(bench.context, record, bench.scope.signal)).state, "unknown");
  }));

Deno.test("a busy monitor is busy, not dead", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench, { silent: true });
    bench.host.processes.table.push(processOf(bench.context, VM_ID));
    const { state, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.equal(state, "unknown");
    assert.match(reason ?? "", /monitor is busy/);
  }));

Deno.test("a monitor that another call holds is busy too, after its turn did not come", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    await withMonitor(bench);
    bench.host.processes.table.push(processOf(bench.context, VM_ID));
    using _held = await bench.host.locks.take(new RuntimeFolder(record.runtime).monitorLock("calls"));
    const { state, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.equal(state, "unknown");
    assert.match(reason ?? "", /another hvlab call holds it/);
  }));

Deno.test("a stranger's monitor at our socket's place is not our VM", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    const asked = await withMonitor(bench, { uuid: uuidOf(OTHER_ID) });
    const { state, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.equal(state, "unknown");
    assert.match(reason ?? "", /Another VM answers/);
    assert.deepEqual(asked, ["qmp_capabilities", "query-uuid"]);
  }));

Deno.test("when nothing can be seen the state is unknown, not off", () =>
  withQemu(async (bench) => {
    const record = await bench.addVm();
    bench.host.processes.list = () => Promise.reject(new Error("ps is missing"));
    const { state, alive, reason } = await observe(bench.context, record, bench.scope.signal);
    assert.deepEqual([state, alive], ["unknown", true]);
    assert.match(reason ?? "", /ps is missing/);
  }));

Deno.test("only the words that hvlab puts first make a process a VM's", () => {
  const uuid = uuidOf(VM_ID);
  assert.equal(readIdentity(`qemu-system-x86_64 -uuid ${uuid} -name guest=a`), VM_ID);
  assert.equal(readIdentity(`/my programs/qemu-system-x86_64 -uuid ${uuid} -name guest=a`), VM_ID);
  assert.equal(readIdentity(`qemu-system-x86_64 -m 1G -name x -uuid ${uuid}`), undefined);
  assert.equal(readIdentity(`sleep ${uuid}`), undefined);
  assert.equal(readIdentity(`qemu-system-x86_64 -uuid ${uuid.slice(1)} -name guest=a`), undefined);
});
