/** Real guests with a TPM of their own: what it holds comes and goes with the machine's memory. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { findHelpers } from "../../src/drivers/qemu/launch/helpers.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { hasProgram } from "../support/tiny_image.ts";

const REGISTER = "cat /sys/class/tpm/tpm0/pcr-sha256/16";
/** TPM2_PCR_Extend of register 16 with 32 bytes (TCG's TPM 2.0 library, part 3): header, handle, password, SHA-256. */
const EXTEND = [
  ...[0x80, 0x02, 0, 0, 0, 65, 0, 0, 0x01, 0x82, 0, 0, 0, 16],
  ...[0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0],
  ...[0, 0, 0, 1, 0, 0x0b, ...Array.from({ length: 32 }, (_, index) => index)],
];
const OCTAL = EXTEND.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const EXTEND_SCRIPT =
  `exec 3<>/dev/tpm0; printf '${OCTAL}' >&3; dd bs=64 count=1 <&3 2>/dev/null >/dev/null; exec 3>&-; ${REGISTER}`;

function tpmTest(promise: string, work: (lab: QemuLab) => Promise<void>, hasNeeds: boolean = true): void {
  qemuTest(promise, work, hasNeeds && hasProgram("swtpm"));
}

async function shell({ driver, host, scope }: QemuLab, id: string, script: string): Promise<string> {
  const clock = host.clock;
  const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
  const argv = ["/bin/sh", "-c", script];
  const { stdout } = await runInGuest(openChannel(driver, vm), { argv }, { ...scope, clock });
  return stdout.trim();
}

async function tpmsOf(lab: QemuLab, id: string): Promise<number> {
  const { host, state, findings } = lab;
  const found = await findHelpers({ host, state, findings, config: DEFAULT_CONFIG });
  return found.filter(({ runtime }) => runtime === lab.runtime(id).path).length;
}

tpmTest("a VM has a TPM 2.0 that lives and ends with it", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm({ tpm: true }), scope);
  await driver.vms.start(id, scope);
  assert.equal((await driver.vms.get(id, scope.signal)).tpm, true);
  assert.equal(await shell(lab, id, "cat /sys/class/tpm/tpm0/tpm_version_major"), "2");
  const before = await shell(lab, id, REGISTER);
  assert.match(before, /^0{64}$/);
  assert.notEqual(await shell(lab, id, EXTEND_SCRIPT), before);
  assert.equal(await tpmsOf(lab, id), 1);
  await driver.vms.stop(id, "off", scope);
  assert.equal(await tpmsOf(lab, id), 0);
  await driver.vms.start(id, scope);
  assert.equal(await shell(lab, id, REGISTER), before, "its registers begin anew with the machine");
  await driver.vms.remove(id, scope);
  assert.equal(await tpmsOf(lab, id), 0);
});

tpmTest("a checkpoint's memory holds the TPM's state, in place, in a new process, and saved", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm({ tpm: true }), scope);
  await driver.vms.start(id, scope);
  const first = await shell(lab, id, EXTEND_SCRIPT);
  const checkpoint = await driver.checkpoints?.create(id, { name: "first", memory_state: true }, scope) ?? "";
  const second = await shell(lab, id, EXTEND_SCRIPT);
  assert.notEqual(second, first);
  await driver.checkpoints?.restore(id, checkpoint, scope);
  assert.equal(await shell(lab, id, REGISTER), first);
  assert.equal(
    await shell(lab, id, EXTEND_SCRIPT),
    second,
    "the TPM itself went back, not only what was read of it",
  );
  await driver.vms.stop(id, "save", scope);
  assert.equal(await tpmsOf(lab, id), 0);
  await driver.vms.start(id, scope);
  assert.equal(await shell(lab, id, REGISTER), second);
  await driver.vms.stop(id, "off", scope);
  await driver.checkpoints?.restore(id, checkpoint, scope);
  assert.equal(await shell(lab, id, EXTEND_SCRIPT), second);
  await driver.vms.remove(id, scope);
});

tpmTest("a VM with a TPM is cloned, exported and imported with it when it is off", async (lab) => {
  const { driver, scope, state } = lab;
  const id = await driver.vms.create(lab.vm({ tpm: true }), scope);
  await driver.vms.start(id, scope);
  await failureOf("hv.conflict", async () => await driver.copies?.clone(id, "twin", scope));
  await failureOf("hv.conflict", async () => await driver.copies?.export(id, `${state.root}/out`, scope));
  await driver.vms.stop(id, "off", scope);
  const twin = (await driver.copies?.clone(id, "twin", scope))?.id ?? "";
  const stateOf = (vm: string): Uint8Array => Deno.readFileSync(`${state.vm(vm)}/tpm/tpm2-00.permall`);
  assert.deepEqual(stateOf(twin), stateOf(id));
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  await driver.copies?.export(id, `${state.root}/out`, { ...scope, warn });
  assert.match(warnings.join(), /secrets of the VM's TPM/);
  const third = await driver.copies?.import(`${state.root}/out`, "third", scope) ?? "";
  assert.deepEqual(stateOf(third), stateOf(id));
  assert.equal((await driver.vms.get(third, scope.signal)).tpm, true);
  await driver.vms.start(third, scope);
  assert.equal(await shell(lab, third, "cat /sys/class/tpm/tpm0/tpm_version_major"), "2");
  for (const vm of [id, twin, third]) await driver.vms.remove(vm, scope);
  Deno.writeFileSync(`${state.root}/out/tpm2-00.permall`, new Uint8Array(8));
  await failureOf("hv.bad_image", async () => await driver.copies?.import(`${state.root}/out`, "bad", scope));
});

tpmTest("UEFI firmware measures what it boots into the TPM", async (lab) => {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm({ tpm: true, firmware: "uefi", memory_mb: 256 }), scope);
  await driver.vms.start(id, scope);
  assert.doesNotMatch(await shell(lab, id, "cat /sys/class/tpm/tpm0/pcr-sha256/0"), /^0{64}$/);
  await driver.vms.remove(id, scope);
}, existsSync("/usr/share/OVMF/OVMF_CODE_4M.fd"));
