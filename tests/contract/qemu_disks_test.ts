/** Disks on QEMU: all formats, what is refused, and disks of running machines. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { DiskAbilities } from "../../src/drivers/disk_abilities.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { qcow2File } from "../support/disk_writer.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const MIB = 1024 * 1024;

interface Scene {
  lab: QemuLab;
  disks: DiskAbilities;
  /** A path in a folder of the test's own. */
  at: (name: string) => string;
}

function diskTest(promise: string, work: (scene: Scene) => Promise<void>): void {
  qemuTest(promise, async (lab) => {
    const folder = `${lab.state.root}/disks, of mine`;
    await Deno.mkdir(folder);
    const { disks } = lab.driver;
    assert.ok(disks !== undefined);
    await work({ lab, disks, at: (name) => `${folder}/${name}` });
  });
}

async function refusal(work: Promise<unknown>): Promise<HvError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HvError) return error;
    throw error;
  }
  throw new Error("it was expected to fail");
}

/** Runs a shell line in the guest and gives what it prints. */
async function inGuest({ driver, scope }: QemuLab, id: string, line: string): Promise<string> {
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  let text = "";
  const sink = (bytes: Uint8Array): Promise<void> => {
    text += new TextDecoder().decode(bytes);
    return Promise.resolve();
  };
  await channel?.exec({ argv: ["sh", "-c", line] }, { stdout: sink, stderr: sink }, scope.signal);
  return text.trim();
}

diskTest(
  "a disk keeps its contents through all formats, and names are no formats",
  async ({ lab: { scope }, disks, at }) => {
    const contents = new Uint8Array(4 * MIB).map((_, index) => index % 251);
    await Deno.writeFile(at("0.vmdk"), contents);
    assert.equal((await disks.info(at("0.vmdk"), scope.signal)).format, "raw");
    const formats = ["qcow2", "vhdx", "vhd", "vmdk", "raw"] as const;
    for (const [index, format] of formats.entries()) {
      const target = at(`${index + 1}.disk`);
      const from = at(index === 0 ? "0.vmdk" : `${index}.disk`);
      const made = await disks.convert(from, { target, format, type: "dynamic" }, scope);
      assert.deepEqual([made.format, made.size_bytes], [format, 4 * MIB], format);
      assert.equal((await disks.check(target, scope)).sound, true, format);
    }
    assert.deepEqual(await Deno.readFile(at("5.disk")), contents);
    const fixed = await disks.create({ path: at("fixed.vhd"), type: "fixed", size_bytes: 2 * MIB }, scope);
    assert.deepEqual([fixed.format, fixed.type, fixed.size_bytes], ["vhd", "fixed", 2 * MIB]);
    for (const path of [at("2.disk"), at("fixed.vhd")]) {
      assert.equal((await refusal(disks.resize(path, 8 * MIB, scope))).code, "hv.unsupported");
    }
    const split = disks.create({ path: at("x.vmdk"), type: "fixed", size_bytes: MIB }, scope);
    assert.equal((await refusal(split)).code, "hv.unsupported");
    assert.deepEqual([...Deno.readDirSync(at(""))].filter(({ name }) => name.startsWith(".")), []);
  },
);

diskTest(
  "compacting gives space back and keeps what a child leans on",
  async ({ lab: { scope }, disks, at }) => {
    await Deno.writeFile(at("full.raw"), new Uint8Array(4 * MIB).fill(7));
    const [path, child] = [at("d.qcow2"), at("child.qcow2")];
    await disks.convert(at("full.raw"), { target: path, type: "dynamic" }, scope);
    const before = (await disks.info(path, scope.signal)).file_bytes;
    await new Deno.Command("qemu-io", { args: ["-f", "qcow2", "-c", "discard 0 4M", path], stdout: "null" })
      .output();
    assert.ok((await disks.compact(path, scope)).file_bytes < before / 4);
    await disks.create({ path: child, type: "differencing", parent: path }, scope);
    const works = [
      () => disks.compact(path, scope),
      () => disks.resize(path, 8 * MIB, scope),
      () => disks.remove(path, scope),
    ];
    for (const work of works) {
      const failure = await refusal(work());
      assert.deepEqual([failure.code, failure.context.children], ["hv.conflict", [child]]);
    }
    assert.equal((await disks.compact(child, scope)).parent?.name, path);
    assert.equal((await disks.chain(child, scope.signal)).broken, undefined);
  },
);

diskTest("no disk from elsewhere makes hvlab read another file of the host", async ({ lab, disks, at }) => {
  const { driver, scope } = lab;
  await Deno.writeFile(at("secret.raw"), new Uint8Array(4096).fill(83));
  const words = [
    "create",
    "-q",
    "-u",
    "-f",
    "qcow2",
    "-b",
    at("secret.raw"),
    "-F",
    "raw",
    at("lure.qcow2"),
    "4096",
  ];
  await new Deno.Command("qemu-img", { args: words }).output();
  await Deno.writeFile(at("system.qcow2"), qcow2File({ backing: "/etc/passwd", backingFormat: "raw" }));
  const id = await driver.vms.create(lab.vm(), scope);
  const target = at("out.raw");
  for (
    const [path, code] of [["lure.qcow2", "hv.policy_denied"], ["system.qcow2", "hv.bad_image"]] as const
  ) {
    assert.equal((await refusal(disks.convert(at(path), { target, type: "dynamic" }, scope))).code, code);
    assert.equal((await refusal(disks.attach(id, at(path), {}, scope))).code, code);
    assert.equal((await refusal(disks.mergeLosses(at(path), false, scope.signal))).code, code);
  }
  await disks.convert(at("lure.qcow2"), { target, type: "dynamic", follow_parents: true }, scope);
  assert.equal((await Deno.readFile(target))[0], 83);
  const system = disks.convert(
    at("system.qcow2"),
    { target: at("o"), type: "dynamic", follow_parents: true },
    scope,
  );
  assert.equal((await refusal(system)).context.reason, "system_file");
});

diskTest("who holds a disk is named", async ({ lab, disks, at }) => {
  const { scope, host } = lab;
  const path = at("held.qcow2");
  await disks.create({ path, type: "dynamic", size_bytes: MIB }, scope);
  const child = await host.processes.open("qemu-io", ["-f", "qcow2", path]);
  try {
    // Its prompt comes once the file is open and locked.
    const reader = child.stdout.getReader();
    await reader.read();
    const failure = await refusal(disks.resize(path, 2 * MIB, scope));
    assert.deepEqual([failure.code, failure.context.reason], ["hv.io", "locked"]);
    assert.match(failure.message, new RegExp(`qemu-io \\(process ${child.pid}\\) has it open`));
    const { driver } = lab;
    const id = await driver.vms.create(lab.vm({ memory_mb: 64 }), scope);
    await disks.attach(id, path, {}, scope);
    const works = [() => driver.vms.start(id, scope), async () => {
      await disks.detach(id, path, scope);
      await driver.vms.start(id, scope);
      await disks.attach(id, path, {}, scope);
    }];
    for (const work of works) {
      const { code, context, message } = await refusal(work());
      assert.deepEqual([code, context.reason], ["hv.io", "locked"], message);
      assert.match(message, new RegExp(`process ${child.pid}`));
    }
    assert.deepEqual(await disks.attached(id, scope.signal), []);
    await driver.vms.remove(id, scope);
    await reader.cancel();
  } finally {
    await child.kill();
    await child.closeInput();
    await child.stderr.cancel();
    await child.ended;
  }
  assert.equal((await disks.resize(path, 2 * MIB, scope)).size_bytes, 2 * MIB);
});

diskTest(
  "a running guest gets disks, sees them grow and merge, and lets go of them",
  async ({ lab, disks, at }) => {
    const { driver, scope } = lab;
    const [base, parent, child, plain] = ["base.qcow2", "parent.qcow2", "child.qcow2", "plain.raw"].map(at);
    assert.ok(base !== undefined && parent !== undefined && child !== undefined && plain !== undefined);
    await disks.create({ path: base, type: "dynamic", size_bytes: 8 * MIB }, scope);
    await disks.create({ path: parent, type: "differencing", parent: base }, scope);
    await disks.create({ path: child, type: "differencing", parent }, scope);
    await disks.create({ path: plain, type: "dynamic", size_bytes: 4 * MIB }, scope);
    const id = await driver.vms.create(lab.vm(), scope);
    // One that it starts with, and one that comes later.
    await disks.attach(id, child, {}, scope);
    await driver.vms.start(id, scope);
    await waitUntil(driver, id, "heartbeat", { ...scope, clock: lab.host.clock });
    await disks.attach(id, plain, { read_only: true }, scope);
    assert.equal((await refusal(disks.attach(id, plain, {}, scope))).code, "hv.conflict");
    assert.deepEqual(
      (await disks.attached(id, scope.signal)).map((disk) => [disk.path, disk.attached, disk.read_only]),
      [[child, true, false], [plain, true, true]],
    );
    // A guest sees a disk a moment after it was plugged in.
    const sizes = "until [ -b /dev/vdb ]; do sleep 0.1; done; cat /sys/block/vd?/size | tr '\\n' ' '";
    assert.equal(await inGuest(lab, id, sizes), `${8 * 2048} ${4 * 2048}`);
    assert.match(await inGuest(lab, id, "echo x > /dev/vdb || echo refused"), /refused/);
    await disks.resize(child, 16 * MIB, scope);
    // And so it sees that one has grown.
    await inGuest(lab, id, `until [ $(cat /sys/block/vda/size) = ${16 * 2048} ]; do sleep 0.1; done`);
    assert.equal(await inGuest(lab, id, sizes), `${16 * 2048} ${4 * 2048}`);
    await inGuest(lab, id, "printf before > /dev/vda; sync");
    const works = [
      () => disks.compact(child, scope),
      () => disks.check(child, scope),
      () => disks.remove(child, scope),
    ];
    for (const work of works) {
      const { code, message } = await refusal(work());
      assert.deepEqual([code, /"web"/.test(message)], ["hv.conflict", true], message);
    }
    const saving = driver.checkpoints?.create(id, { name: "c", memory_state: true }, scope) ??
      Promise.resolve();
    assert.match((await refusal(saving)).message, /is attached and no part of its checkpoints/);

    const { removed, disk } = await disks.merge(child, false, scope);
    assert.deepEqual([removed, disk.path, disk.size_bytes], [child, parent, 16 * MIB]);
    assert.equal((await disks.merge(parent, false, scope)).disk.path, base);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
    assert.equal(await inGuest(lab, id, "head -c 6 /dev/vda; printf after > /dev/vda; sync"), "before");
    assert.equal(
      (await disks.attached(id, scope.signal)).find(({ path }) => path === base)?.at_next_start,
      true,
    );
    await driver.pause?.pause(id, scope);
    const standing = await refusal(disks.detach(id, plain, scope));
    assert.deepEqual([standing.code, standing.context.found], ["hv.conflict", "paused"]);
    await driver.pause?.resume(id, scope);
    for (const path of [plain, base]) await disks.detach(id, path, scope);
    assert.equal(await inGuest(lab, id, "ls /sys/block | grep -c vd"), "0");
    assert.deepEqual(await disks.attached(id, scope.signal), []);
    await disks.attach(id, base, {}, scope);
    assert.equal(
      await inGuest(lab, id, "until [ -b /dev/vda ]; do sleep 0.1; done; head -c 5 /dev/vda"),
      "after",
    );
    await driver.vms.stop(id, "off", scope);
    await Deno.rename(base, `${base}.away`);
    const failure = await refusal(driver.vms.start(id, scope));
    assert.deepEqual([failure.code, failure.context.reason], ["hv.io", "missing"]);
    assert.match(failure.hint ?? "", / '.*disks, of mine\/base\.qcow2'$/);
    await Deno.symlink(at(""), at("link"));
    await disks.detach(id, at("link/base.qcow2"), scope);
    assert.deepEqual(await disks.attached(id, scope.signal), []);
  },
);

diskTest("nothing leans on what a VM may write to, running or off", async ({ lab, disks, at }) => {
  const { driver, scope } = lab;
  const [base, child, foreign] = [at("base.qcow2"), at("child.qcow2"), at("foreign.qcow2")];
  await disks.create({ path: base, type: "dynamic", size_bytes: MIB }, scope);
  const lean = { path: child, type: "differencing", parent: base } as const;
  const words = ["create", "-q", "-f", "qcow2", "-b", base, "-F", "qcow2", foreign];
  await new Deno.Command("qemu-img", { args: words }).output();
  const [one, other] = [
    await driver.vms.create(lab.vm({ name: "one" }), scope),
    await driver.vms.create(lab.vm({ name: "other" }), scope),
  ];
  await disks.attach(one, base, {}, scope);
  const works = [
    () => disks.create(lean, scope),
    () => disks.attach(one, foreign, { follow_parents: true }, scope),
    () => disks.attach(other, foreign, { follow_parents: true, read_only: true }, scope),
  ];
  for (const work of works) {
    const failure = await refusal(work());
    assert.deepEqual([failure.code, failure.context.name, failure.context.path], [
      "hv.conflict",
      "one",
      base,
    ]);
  }
  await disks.detach(one, base, scope);
  await disks.attach(one, base, { read_only: true }, scope);
  await disks.create(lean, scope);
  await disks.attach(one, child, {}, scope);
});

diskTest("a disk of a VM that is off stays as writable as it was attached", async ({ lab, disks, at }) => {
  const { driver, scope } = lab;
  await disks.create({ path: at("d.qcow2"), type: "dynamic", size_bytes: MIB }, scope);
  const id = await driver.vms.create(lab.vm(), scope);
  for (const readOnly of [true, false]) {
    await disks.attach(id, at("d.qcow2"), { read_only: readOnly }, scope);
    await disks.attach(id, at("d.qcow2"), { read_only: readOnly }, scope);
    const failure = await refusal(disks.attach(id, at("d.qcow2"), { read_only: !readOnly }, scope));
    assert.deepEqual([failure.code, failure.context.found], [
      "hv.conflict",
      readOnly ? "read-only" : "writable",
    ]);
    await disks.detach(id, at("d.qcow2"), scope);
  }
});

diskTest(
  "a VM is neither started nor copied over another disk than the one it was made on",
  async ({ lab, at }) => {
    const { driver, scope, state } = lab;
    await Deno.writeFile(at("blank.img"), new Uint8Array(MIB));
    await driver.images?.import({ name: "blank", disk: at("blank.img") }, scope);
    const id = await driver.vms.create(lab.vm({ image: "blank", memory_mb: 16 }), scope);
    const base = `${state.images}/blank/disk.img`;
    await Deno.utime(base, 1, 1);
    await driver.vms.start(id, scope);
    await driver.vms.stop(id, "off", scope);
    const { copies, checkpoints } = driver;
    assert.ok(copies !== undefined && checkpoints !== undefined);
    const kept = await checkpoints.create(id, { name: "kept", memory_state: false }, scope);
    // Another time alone is no change.
    await Deno.utime(base, 2, 2);
    const { id: clone } = await copies.clone(id, "twin", scope);
    await driver.vms.start(clone, scope);
    await driver.vms.stop(clone, "off", scope);

    await Deno.chmod(base, 0o644);
    await Deno.writeFile(base, new Uint8Array(MIB).fill(1));
    const refused = {
      start: () => driver.vms.start(id, scope),
      clone: () => copies.clone(id, "third", scope),
      export: () => copies.export(id, at("whole"), scope),
      checkpoint: () => checkpoints.export(id, kept, at("checkpoint"), scope),
    };
    for (const [what, work] of Object.entries(refused)) {
      const { code, context } = await refusal(work());
      assert.deepEqual([code, context.reason, context.path], ["hv.bad_image", "base_changed", base], what);
    }
    assert.equal((await driver.vms.list(scope.signal)).vms.length, 2);
    assert.deepEqual([...Deno.readDirSync(at(""))].map(({ name }) => name), ["blank.img"]);
    await Deno.writeFile(base, new Uint8Array(MIB + 512));
    assert.match((await refusal(driver.vms.start(id, scope))).message, /has 1049088 bytes and had 1048576/);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
  },
);
