import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { endProcess } from "../../../../../src/drivers/qemu/power/power_off.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { processOf, VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

Deno.test("QEMU is asked to quit, and no signal is sent when it does", () =>
  withQemu(async ({ host, context, scope, addVm }) => {
    const record = await addVm();
    const runtime = new RuntimeFolder(record.runtime);
    await Deno.mkdir(runtime.path, { recursive: true });
    host.processes.table.push(processOf(context, VM_ID));
    const monitor = runtime.monitor("calls");
    const asked = await listenAsMonitor(host, monitor, { uuid: uuidOf(VM_ID), answers: { quit: null } });
    host.processes.list = () => Promise.resolve(asked.includes("quit") ? [] : host.processes.table);
    await endProcess(context, record, scope.signal);
    assert.equal(asked.at(-1), "quit");
    assert.deepEqual(host.processes.signals, []);
  }));

Deno.test("a QEMU that does not listen is told by signals, the gentle one first", () =>
  withQemu(async ({ host, context, scope, addVm }) => {
    const record = await addVm();
    host.processes.table.push(processOf(context, VM_ID));
    host.processes.onSignal = (pid, signal) => {
      if (signal === "KILL") host.processes.end(pid);
    };
    await endProcess(context, record, scope.signal);
    assert.deepEqual(host.processes.signals, ["TERM 77", "KILL 77"]);
  }));

Deno.test("a process that even SIGKILL does not end is told, with its pid", () =>
  withQemu(async ({ host, context, scope, addVm }) => {
    const record = await addVm();
    host.processes.table.push(processOf(context, VM_ID));
    host.processes.onSignal = () => {};
    const failure = await failureOf("hv.io", () => endProcess(context, record, scope.signal));
    assert.equal(failure.context.pid, 77);
  }));

Deno.test("a recycled pid is nobody's to kill", () =>
  withQemu(async ({ host, context, scope, addVm }) => {
    const record = await addVm();
    host.processes.table.push({ pid: 77, started: "Sun Nov 29 11:30:00 2026", args: "sleep 1000" });
    await endProcess(context, record, scope.signal);
    assert.deepEqual(host.processes.signals, []);
  }));

Deno.test("a pid that goes to another program between two signals is left alone", () =>
  withQemu(async ({ host, context, scope, addVm }) => {
    const record = await addVm();
    host.processes.table.push(processOf(context, VM_ID));
    host.processes.onSignal = (pid) => {
      host.processes.end(pid);
      host.processes.table.push({ pid, started: "Sun Nov 29 12:00:01 2026", args: "sleep 1000" });
    };
    await endProcess(context, record, scope.signal);
    assert.deepEqual(host.processes.signals, ["TERM 77"]);
  }));
