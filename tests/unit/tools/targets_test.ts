import assert from "node:assert/strict";
import { uuidOf } from "../../../src/base/ids.ts";
import { joinPath } from "../../../src/base/paths.ts";
import { openQemuDriver } from "../../../src/drivers/qemu/driver.ts";
import { resolveVms } from "../../../src/tools/targets.ts";
import { OTHER_ID, processOf, type QemuBench, VM_ID, withQemu } from "../../support/qemu_context.ts";

const GONE_ID = "vm-aaaaaaaa-7654-4210-8fed-cba987654321";

/** Adds a VM whose record is damaged, and answers the record's path. */
async function addDamaged({ context, addVm }: QemuBench, id: string): Promise<string> {
  await addVm({ id });
  const record = joinPath(context.state.vm(id), "vm.json");
  await Deno.truncate(record, 40);
  return record;
}

async function resolve({ context, scope }: QemuBench, references: string[]) {
  const targets = await resolveVms(openQemuDriver(context), references, () => {}, scope.signal);
  return targets.map(({ vm, error }) => ({ vm: vm?.id, error }));
}

Deno.test("the id of a VM whose record is damaged is no VM that is not there: its record and process are named", () =>
  withQemu(async (bench) => {
    const record = await addDamaged(bench, VM_ID);
    const idle = await addDamaged(bench, OTHER_ID);
    const elsewhere = processOf(bench.context, OTHER_ID, { pid: 88 });
    elsewhere.args = elsewhere.args.replace(bench.context.state.root, "/another/state");
    bench.host.processes.table.push(processOf(bench.context, VM_ID), elsewhere);
    for (const { error } of await resolve(bench, [VM_ID, uuidOf(VM_ID)])) {
      assert.equal(error?.code, "hv.io");
      assert.ok(error.message.startsWith(`The record "${record}" of the VM "${VM_ID}" is damaged: `));
      assert.match(error.message, /; its machine runs as process 77$/);
      assert.match(error.hint ?? "", /vm cleanup` removes the VM and ends its process$/);
      const { vm, record: named, pid } = error.context;
      assert.deepEqual([vm, named, pid], [VM_ID, record, 77]);
    }
    const [off] = await resolve(bench, [OTHER_ID]);
    assert.deepEqual([off?.error?.code, off?.error?.context.record], ["hv.io", idle]);
    assert.doesNotMatch(`${off?.error?.message} ${off?.error?.hint}`, /process/);
    assert.ok(!("pid" in (off?.error?.context ?? {})));
  }));

Deno.test("a name that is not found says how many records could not be read, and which", () =>
  withQemu(async (bench) => {
    await bench.addVm({ name: "webs" });
    const record = await addDamaged(bench, OTHER_ID);
    await Deno.mkdir(`${bench.context.state.vms}/lost+found`);
    const [found, unknown, gone] = await resolve(bench, ["webs", "web", GONE_ID]);
    assert.deepEqual([found?.vm, found?.error], [VM_ID, undefined]);
    assert.equal(unknown?.error?.code, "hv.not_found");
    assert.equal(
      unknown.error.message,
      'There is no VM "web" among those whose records can be read; 1 cannot',
    );
    assert.match(unknown.error.hint ?? "", /may have that name.*did you mean "webs"\?$/);
    const { damaged } = unknown.error.context;
    assert.ok(Array.isArray(damaged));
    assert.deepEqual(
      damaged.map((each) => each !== null && typeof each === "object" && !Array.isArray(each) && each.record),
      [record],
    );
    assert.equal(gone?.error?.message, `There is no VM "${GONE_ID}"`);
  }));

Deno.test("where all records can be read, a name that is not found is not there", () =>
  withQemu(async (bench) => {
    await bench.addVm();
    const [unknown] = await resolve(bench, ["web"]);
    assert.equal(unknown?.error?.message, 'There is no VM "web"');
    assert.equal(unknown.error.hint, "List the VMs with `hvlab vm list`");
    assert.deepEqual(unknown.error.context, { vm: "web" });
  }));
