import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { readRecord, writeRecord } from "../../../../src/drivers/qemu/records.ts";
import { failureOf } from "../../../support/failures.ts";
import { OTHER_ID, recordOf, VM_ID, withQemu } from "../../../support/qemu_context.ts";

Deno.test("a record says nothing about whether the VM runs", () => {
  const text = writeRecord(recordOf());
  assert.doesNotMatch(text, /running|"state"|"status"/);
});

Deno.test("what a newer hvlab wrote stays in a record through load and save", () => {
  const text = JSON.stringify({
    ...recordOf(),
    colour: { of: "the future" },
    sandbox: { expires_at: "2026-11-29T13:00:00Z", extra: [1, 2] },
  });
  const record = readRecord(text, VM_ID);
  const again: unknown = JSON.parse(writeRecord({ ...record, memory_mb: 512 }));
  assert.deepEqual(again, { ...JSON.parse(text), memory_mb: 512 });
});

Deno.test("damaged, foreign and newer records are refused with the reason", () => {
  const cases: [string, RegExp][] = [
    ["", /JSON/],
    ["{", /JSON/],
    ["null", /the whole/],
    [writeRecord({ ...recordOf(), memory_mb: 0 }), /memory_mb/],
    [JSON.stringify({ ...recordOf(), name: 7 }), /name/],
    [writeRecord({ ...recordOf(), schema: 2 }), /schema 2/],
    [writeRecord(recordOf(OTHER_ID)), /record of "vm-fedcba98/],
  ];
  for (const [text, reason] of cases) assert.throws(() => readRecord(text, VM_ID), reason);
});

Deno.test("a damaged record is told and hides no other", () =>
  withQemu(async ({ context, records, addVm }) => {
    const sound = await addVm();
    await addVm({ id: OTHER_ID });
    await Deno.truncate(`${context.state.vm(OTHER_ID)}/vm.json`, 40);
    await Deno.mkdir(`${context.state.vms}/vm-no-uuid`);
    await Deno.writeTextFile(`${context.state.vms}/note.txt`, "hello");
    await Deno.mkdir(`${context.state.vms}/.making-${OTHER_ID}`);
    const { records: found, damaged, unfinished } = await records.list();
    assert.deepEqual(found, [sound]);
    assert.deepEqual(damaged.map(({ name }) => name).sort(), ["note.txt", OTHER_ID, "vm-no-uuid"].sort());
    assert.deepEqual(unfinished.map(({ name }) => name), [`.making-${OTHER_ID}`]);
    const failure = await failureOf("hv.io", () => records.get(OTHER_ID));
    assert.equal(failure.context.path, `${context.state.vm(OTHER_ID)}/vm.json`);
  }));

Deno.test("no state folder means no VMs", () =>
  withQemu(async ({ records }) => {
    assert.deepEqual(await records.list(), { records: [], damaged: [], unfinished: [] });
    await failureOf("hv.not_found", () => records.get(VM_ID));
  }));

Deno.test("an id that is no id never becomes a path", () =>
  withQemu(async ({ records, addVm }) => {
    await addVm();
    for (const id of ["../vms/" + VM_ID, `${VM_ID}/.`, VM_ID.toUpperCase(), "", "."]) {
      await failureOf("hv.not_found", () => records.get(id));
    }
  }));

Deno.test("a record is replaced whole, with no other file left beside it", () =>
  withQemu(async ({ context, records, addVm }) => {
    const record = await addVm();
    await records.save({ ...record, name: "new" });
    assert.equal((await records.get(VM_ID)).name, "new");
    const names = [...Deno.readDirSync(context.state.vm(VM_ID))].map(({ name }) => name);
    assert.deepEqual(names, ["vm.json"]);
  }));

Deno.test("a file in the state folder's place is an error that names it, never an empty host", () =>
  withQemu(async ({ context, records }) => {
    const { root, vms } = context.state;
    await Deno.writeTextFile(root, "");
    for (const look of [() => records.list(), () => records.get(VM_ID)]) {
      const failure = await failureOf("hv.conflict", look);
      assert.deepEqual([failure.context.path, failure.context.found], [root, "file"]);
      assert.match(failure.message, /is no folder$/);
    }
    await Deno.remove(root);
    await Deno.mkdir(root);
    await Deno.writeTextFile(vms, "");
    assert.equal((await failureOf("hv.conflict", () => records.list())).context.path, vms);
  }));

Deno.test("a state folder that cannot be read is an error", () =>
  withQemu(async ({ context, records }) => {
    const refused = new HvError("hv.permission", "Cannot look at it: the operating system refuses it");
    const { files } = context.host;
    const { stat } = files;
    files.stat = () => Promise.reject(refused);
    try {
      assert.equal(await failureOf("hv.permission", () => records.list()), refused);
    } finally {
      files.stat = stat;
    }
  }));
