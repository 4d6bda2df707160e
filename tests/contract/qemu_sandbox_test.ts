/** Sandboxes and images with real machines: leases, makers that die, many at once, disks and their overlays. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

async function digestsOf({ driver, scope }: QemuLab, image: string): Promise<string[]> {
  const found = await driver.images?.get(image, scope.signal);
  return (found?.files ?? []).map(({ path }) =>
    createHash("sha256").update(Deno.readFileSync(path)).digest("hex")
  );
}

async function assertNoVm(lab: QemuLab): Promise<void> {
  assert.deepEqual(namesIn(lab.state.vms), []);
  assert.deepEqual(namesIn(lab.host.environment.runtimeFolder()), []);
  assert.deepEqual(namesIn(lab.state.locks).filter((name) => name.startsWith("vm-")), []);
  assert.deepEqual(await lab.driver.vms.orphans(lab.scope.signal), []);
}

/** Waits until a guest answers. */
async function answered({ driver, scope }: QemuLab, id: string): Promise<void> {
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  assert.ok(channel !== undefined);
  await channel.ping(scope.signal);
}

qemuTest("a sandbox runs at once, is marked as one, and leaves nothing when removed", async (lab) => {
  const { driver, scope } = lab;
  assert.ok(driver.sandboxes !== undefined);
  const id = await driver.sandboxes.create(lab.sandbox(), scope);
  const vm = await driver.vms.get(id, scope.signal);
  assert.deepEqual([vm.state, vm.sandbox, vm.managed], ["running", true, true]);
  assert.ok(Date.parse(vm.expires_at ?? "") > Date.now());
  await answered(lab, id);
  assert.deepEqual(await driver.sandboxes.sweep(scope), []);
  await driver.vms.remove(id, scope);
  await assertNoVm(lab);
});

qemuTest("a sandbox goes when its lease has run out", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.sandboxes?.create(lab.sandbox({ ttl_s: 0 }), scope);
  const orphans = await driver.vms.orphans(scope.signal);
  assert.deepEqual(orphans.map(({ kind, id }) => [kind, id]), [["sandbox_expired", id]]);
  const removed = await driver.sandboxes?.sweep(scope);
  assert.deepEqual(removed?.map(({ id, removed }) => [id, removed]), [[id, true]]);
  await assertNoVm(lab);
});

qemuTest("a sandbox that is tied to its maker stays while it lives and goes afterwards", async (lab) => {
  const { driver, scope } = lab;
  const maker = lab.another();
  const id = await maker.sandboxes?.create(lab.sandbox({ tiedToUs: true }), scope);
  assert.deepEqual(await driver.sandboxes?.sweep(scope), []);
  assert.deepEqual(await driver.vms.orphans(scope.signal), []);
  await maker.close();
  const [orphan] = await driver.vms.orphans(scope.signal);
  assert.ok(orphan !== undefined);
  assert.deepEqual([orphan.kind, orphan.id], ["sandbox_abandoned", id]);
  assert.equal((await driver.vms.removeOrphan(orphan, scope)).removed, true);
  await assertNoVm(lab);
});

qemuTest(
  "eight sandboxes from one image at once all answer, and two that are killed leave nothing",
  async (lab) => {
    const { driver, scope, host } = lab;
    const before = await digestsOf(lab, "tiny");
    const names = Array.from({ length: 8 }, (_, index) => `box ${index}`);
    const ids = await Promise.all(names.map(async (name) => {
      const id = await driver.sandboxes?.create(lab.sandbox({ name }), scope);
      assert.ok(id !== undefined);
      return id;
    }));
    await Promise.all(ids.map((id) => answered(lab, id)));
    const { vms } = await driver.vms.list(scope.signal);
    assert.deepEqual(
      vms.map(({ name, state }) => [name, state]).sort(),
      names.map((name) => [name, "running"]),
    );
    assert.equal(new Set(vms.map(({ pid }) => pid)).size, 8);
    for (const { pid } of vms.slice(0, 2)) await host.processes.kill(pid ?? 0, "KILL");
    await Promise.all(ids.map((id) => driver.vms.remove(id, scope)));
    await assertNoVm(lab);
    assert.deepEqual(await digestsOf(lab, "tiny"), before);
  },
);

qemuTest("a QEMU without a record is an orphan of its own state folder and can be removed", async (lab) => {
  const { driver, scope, host, state } = lab;
  const id = await driver.sandboxes?.create(lab.sandbox(), scope);
  assert.ok(id !== undefined);
  const { pid } = await driver.vms.get(id, scope.signal);
  await Deno.remove(state.vm(id), { recursive: true });
  const [orphan, ...others] = await driver.vms.orphans(scope.signal);
  assert.ok(orphan !== undefined);
  assert.deepEqual([orphan.kind, orphan.id, orphan.pid, others.length], ["process", id, pid, 0]);
  assert.equal((await driver.vms.removeOrphan(orphan, scope)).removed, true);
  assert.equal(await host.processes.describe(pid ?? 0), undefined);
  await assertNoVm(lab);
  assert.equal((await driver.vms.removeOrphan(orphan, scope)).removed, false);
});

async function makeDisk({ host }: QemuLab, path: string, ...options: string[]): Promise<void> {
  const made = await host.processes.run("qemu-img", ["create", "-q", ...options, path, "8M"]);
  assert.equal(made.code, 0, new TextDecoder().decode(made.stderr));
}

qemuTest("a disk image is taken in read-only, and each VM writes to an overlay of its own", async (lab) => {
  const { driver, scope, state } = lab;
  for (const format of ["qcow2", "raw"]) {
    const disk = `${state.root}/base,1 ${format}`;
    await makeDisk(lab, disk, "-f", format);
    const image = await driver.images?.import({ name: format, disk }, scope);
    const [file] = image?.files ?? [];
    assert.deepEqual([image?.kind, file?.format, file?.role], ["disk", format, "disk"]);
    assert.equal((Deno.statSync(file?.path ?? "").mode ?? 0) & 0o222, 0);
    const before = await digestsOf(lab, format);
    const ids = [
      await driver.vms.create(lab.vm({ name: `a ${format}`, image: format }), scope),
      await driver.vms.create(lab.vm({ name: `b ${format}`, image: format }), scope),
    ];
    for (const id of ids) await driver.vms.start(id, scope);
    const { vms } = await driver.vms.list(scope.signal);
    assert.deepEqual(vms.map((vm) => vm.state), ["running", "running"]);
    const losses = await driver.vms.losses(ids[0] ?? "", scope.signal);
    assert.ok(losses.some(({ path }) => path === `${state.vm(ids[0] ?? "")}/disk.qcow2`));
    for (const id of ids) await driver.vms.remove(id, scope);
    await assertNoVm(lab);
    assert.deepEqual(await digestsOf(lab, format), before);
  }
});

qemuTest(
  "disks that lead to other files, and files that are no disk, are refused and leave nothing",
  async (lab) => {
    const { driver, scope, state, host } = lab;
    const at = (name: string): string => `${state.root}/${name}`;
    await makeDisk(lab, at("base"), "-f", "qcow2");
    await makeDisk(lab, at("overlay"), "-f", "qcow2", "-b", at("base"), "-F", "qcow2");
    await host.processes.run("qemu-img", [
      "create",
      "-q",
      "-f",
      "qcow2",
      "-o",
      `data_file=data`,
      "outside",
      "8M",
    ], {
      cwd: state.root,
    });
    await makeDisk(lab, at("foreign"), "-f", "vmdk");
    await Deno.writeTextFile(at("empty"), "");
    await Deno.writeFile(at("cut"), Deno.readFileSync(at("base")).slice(0, 40));
    await Deno.mkdir(at("folder"));
    const reasons = {
      overlay: "backing_file",
      outside: "data_file",
      foreign: "unsupported_format",
      empty: "empty",
      cut: "truncated",
      folder: "not_a_file",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      const failure = await failureOf(
        "hv.bad_image",
        () => driver.images?.import({ name, disk: at(name) }, scope),
      );
      assert.equal(failure.context.reason, reason, name);
    }
    await failureOf("hv.not_found", () => driver.images?.import({ name: "gone", disk: at("gone") }, scope));
    await failureOf("hv.conflict", () => driver.images?.import({ name: "tiny", disk: at("base") }, scope));
    await failureOf("hv.bad_image", () => driver.images?.import({ name: "text", kernel: at("base") }, scope));
    assert.deepEqual(namesIn(state.images), ["tiny"]);
    const listing = await driver.images?.list(scope.signal);
    assert.deepEqual([listing?.images.map(({ name }) => name), listing?.warnings], [["tiny"], []]);
  },
);

qemuTest("a damaged image is a warning and hides no other", async (lab) => {
  const { driver, scope, state } = lab;
  await Deno.mkdir(`${state.images}/broken`);
  await Deno.writeTextFile(`${state.images}/broken/image.json`, "{");
  const listing = await driver.images?.list(scope.signal);
  assert.deepEqual(listing?.images.map(({ name }) => name), ["tiny"]);
  assert.match(listing?.warnings[0] ?? "", /broken/);
  await failureOf("hv.bad_image", () => driver.images?.get("broken", scope.signal));
  await failureOf("hv.not_found", () => driver.images?.get("../images/tiny", scope.signal));
});
