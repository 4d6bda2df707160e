/** Devices of real machines: what comes with the next start is told from what is there. */

import assert from "node:assert/strict";
import type { Device } from "../../src/contract/device.ts";
import { abilityOf } from "../../src/flows/abilities.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { hasProgram } from "../support/tiny_image.ts";

async function shell({ driver, host, scope }: QemuLab, id: string, script: string): Promise<string> {
  const clock = host.clock;
  const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
  const argv = ["/bin/sh", "-c", script];
  const { stdout } = await runInGuest(openChannel(driver, vm), { argv }, { ...scope, clock });
  return stdout.trim();
}

async function find({ driver, scope }: QemuLab, vm: string, id: string): Promise<Device | undefined> {
  return (await abilityOf(driver, "devices").list(vm, scope.signal)).find((device) => device.id === id);
}

/** Reads up to the end of a line, which may come in pieces. */
async function readLine(connection: Deno.Conn): Promise<string> {
  let text = "";
  const bytes = new Uint8Array(64);
  while (!text.includes("\n")) {
    const count = await connection.read(bytes);
    assert.ok(count !== null, text);
    text += new TextDecoder().decode(bytes.subarray(0, count));
  }
  return text;
}

qemuTest("a second serial port is a socket of the host from the next start on", async (lab) => {
  const { driver, scope, state } = lab;
  const ports = abilityOf(driver, "serial_ports");
  const path = `${state.root}/../line`;
  const id = await driver.vms.create(lab.vm(), scope);
  await failureOf("hv.unsupported", () => ports.set(id, 1, { path }, scope));
  await failureOf("hv.usage", () => ports.set(id, 2, { path: "relative" }, scope));
  await failureOf("hv.usage", () => ports.set(id, 2, { path: `/${"x".repeat(200)}` }, scope));
  await Deno.writeTextFile(path, "somebody's");
  await failureOf("hv.conflict", () => ports.set(id, 2, { path }, scope));
  await Deno.remove(path);
  await ports.set(id, 2, { path }, scope);
  await Deno.writeTextFile(path, "somebody's");
  await failureOf("hv.conflict", () => driver.vms.start(id, scope));
  await Deno.remove(path);
  await driver.vms.start(id, scope);

  const line = await Deno.connect({ transport: "unix", path });
  try {
    await shell(lab, id, "stty -F /dev/ttyS1 raw -echo; echo 'from the guest' >/dev/ttyS1");
    assert.equal(await readLine(line), "from the guest\n");
  } finally {
    line.close();
  }
  await ports.set(id, 2, { path: null }, scope);
  const leaving = await find(lab, id, "serial-1");
  assert.deepEqual([leaving?.now, leaving?.next_start, leaving?.holds], [true, false, path]);
  // The machine itself listens there, which is no reason against taking the change back.
  await ports.set(id, 2, { path }, scope);
  assert.equal((await find(lab, id, "serial-1"))?.next_start, true);
  await ports.set(id, 2, { path: null }, scope);
  await driver.vms.stop(id, "off", scope);
  assert.equal(await find(lab, id, "serial-1"), undefined);
});

qemuTest(
  "a TPM that is given to a running VM comes with its next start, and keeps what it had",
  async (lab) => {
    const { driver, scope } = lab;
    const devices = abilityOf(driver, "devices");
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    await devices.setTpm(id, true, scope);
    const coming = await find(lab, id, "tpm-0");
    assert.deepEqual([coming?.now, coming?.next_start], [false, true]);
    await devices.setTpm(id, false, scope);
    assert.equal(await find(lab, id, "tpm-0"), undefined);
    await devices.setTpm(id, true, scope);
    await driver.vms.stop(id, "off", scope);
    await driver.vms.start(id, scope);
    assert.equal(await shell(lab, id, "cat /sys/class/tpm/tpm0/tpm_version_major"), "2");
    assert.deepEqual([(await find(lab, id, "tpm-0"))?.now, (await driver.vms.get(id, scope.signal)).tpm], [
      true,
      true,
    ]);
    await devices.setTpm(id, false, scope);
    const leaving = await find(lab, id, "tpm-0");
    assert.deepEqual([leaving?.now, leaving?.next_start], [true, false]);
    await driver.vms.stop(id, "off", scope);
    assert.equal(await find(lab, id, "tpm-0"), undefined);
  },
  hasProgram("swtpm"),
);
