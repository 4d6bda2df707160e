/**
 * The way through KVM, on hosts that have none: this driver works inside a guest that has a KVM of its own, with this
 * host's QEMU and Deno.
 */

import assert from "node:assert/strict";
import { BOOT_SECTOR_EXIT_CODE } from "../../src/drivers/qemu/launch/boot_sector.ts";
import { folderOf, nameOf } from "../../src/base/paths.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { INSIDE, startKvmGuest, whyNoKvmGuest } from "../support/kvm_guest.ts";
import { qemuTest } from "../support/qemu_lab.ts";
import { IS_SOAK } from "../support/soak.ts";

const TRIAL = new URL("../support/kvm_trial.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;
/** Where the trial and Deno are below the guest's root folder for programs of this host. */
const PLACES = { trial: "/trial", deno: "/deno" };

/** Becomes the trial. Argument: Deno's file name. */
const RUN = `
export HOME=/root PATH=/usr/bin:/usr/sbin XDG_RUNTIME_DIR=/tmp
exec chroot ${INSIDE} "${PLACES.deno}/$1" run -A --no-config --no-lock ${PLACES.trial}/trial.js /tmp
`;

/** Why it cannot be tried here. */
function whyNot(): string | undefined {
  if (!IS_SOAK) return "Deno takes its time under two levels of emulation; set HVLAB_SOAK=1";
  return whyNoKvmGuest();
}

/** The trial as one file, in a folder of its own. */
async function prepareTrial(folder: string): Promise<void> {
  await Deno.mkdir(folder);
  const args = ["bundle", "--quiet", "--config", CONFIG, "-o", `${folder}/trial.js`, TRIAL];
  const { code } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.equal(code, 0, `deno bundle ended with ${code}`);
}

const reason = whyNot();
qemuTest(
  `in a guest with a KVM of its own, the driver finds it and runs a VM under it${
    reason === undefined ? "" : ` (not here: ${reason})`
  }`,
  async (lab) => {
    const { host: { clock }, scope } = lab;
    const trial = `${lab.state.root}/trial`;
    const deno = await Deno.realPath(Deno.execPath());
    await prepareTrial(trial);
    const { vm, channel } = await startKvmGuest(lab, {
      memory_mb: 768,
      folders: [
        { host: trial, guest: INSIDE + PLACES.trial, read_only: true },
        { host: folderOf(deno), guest: INSIDE + PLACES.deno, read_only: true },
      ],
    });
    const argv = ["/bin/sh", "-c", RUN, "run", nameOf(deno)];
    const { stdout, stderr, exit_code } = await runInGuest(channel, { argv }, { ...scope, clock });
    assert.equal(exit_code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      ruled_out: null,
      boot_sector: BOOT_SECTOR_EXIT_CODE,
      state: "running",
      acceleration: "kvm",
      after_stop: "off",
    });
    await lab.driver.vms.remove(vm.id, scope);
  },
  reason === undefined,
);
