/**
 * The way through KVM, on hosts that have none: an emulated processor offers AMD's virtualisation, so that a guest has a
 * KVM of its own, and this driver works inside it. The guest sees this host's /usr, read-only, for QEMU and Deno.
 */

import assert from "node:assert/strict";
import { BOOT_SECTOR_EXIT_CODE } from "../../src/drivers/qemu/launch/boot_sector.ts";
import { folderOf, nameOf } from "../../src/base/paths.ts";
import { openChannel } from "../../src/flows/open_channel.ts";
import { runInGuest } from "../../src/flows/run_in_guest.ts";
import { waitUntil } from "../../src/flows/wait_until.ts";
import { qemuTest } from "../support/qemu_lab.ts";
import { IS_SOAK } from "../support/soak.ts";
import { hasProgram } from "../support/tiny_image.ts";

const DEBS = new URL("../../dist/tiny/debs/", import.meta.url).pathname;
const TRIAL = new URL("../support/kvm_trial.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** Makes /host a root folder, loads KVM, and becomes the trial in it. Arguments: Deno's file name. */
const INSIDE = `
set -e
cd /host
for name in bin sbin lib lib64; do ln -s usr/$name $name; done
mkdir -p proc sys dev tmp root trial deno
for name in proc sys dev; do mount -o bind /$name $name; done
mount -o bind /trial trial
mount -o bind /deno deno
for name in irqbypass kvm kvm-amd; do insmod /trial/$name.ko; done
export HOME=/root PATH=/usr/bin:/usr/sbin XDG_RUNTIME_DIR=/tmp
exec chroot /host "/deno/$1" run -A --no-config --no-lock /trial/trial.js /tmp
`;

function findKernelPackage(): string | undefined {
  try {
    const names = [...Deno.readDirSync(DEBS)].map(({ name }) => name);
    const name = names.find((each) => /^linux-image-.*\.deb$/.test(each));
    return name === undefined ? undefined : DEBS + name;
  } catch {
    return undefined;
  }
}

/** Why it cannot be tried here. */
function whyNot(): string | undefined {
  if (!IS_SOAK) return "two levels of emulation take their time; set HVLAB_SOAK=1";
  if (Deno.build.arch !== "x86_64" || Deno.build.os !== "linux") return "this is no x86-64 Linux";
  if (findKernelPackage() === undefined) return "the tiny guest's kernel package is not in dist/tiny/debs";
  if (Deno.uid() !== 0) return "sharing /usr with a guest needs root";
  for (const program of ["dpkg-deb", "tar"]) if (!hasProgram(program)) return `${program} is not installed`;
  return undefined;
}

async function run(program: string, args: string[], stdin?: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "inherit" })
    .spawn();
  const writer = child.stdin.getWriter();
  const fed = (stdin === undefined ? Promise.resolve() : writer.write(stdin)).then(() => writer.close());
  const [{ code, stdout }] = await Promise.all([child.output(), fed.catch(() => {})]);
  assert.equal(code, 0, `${program} ended with ${code}`);
  return stdout;
}

/** The kernel's KVM modules and the trial as one file, in a folder of their own. */
async function prepareTrial(folder: string): Promise<void> {
  await Deno.mkdir(folder);
  const archive = await run("dpkg-deb", ["--fsys-tarfile", findKernelPackage() ?? ""]);
  const wanted = ["*/kvm/kvm.ko", "*/kvm/kvm-amd.ko", "*/virt/lib/irqbypass.ko"];
  const options = ["-x", "-C", folder, "--wildcards", "--transform", "s,.*/,,", ...wanted];
  await run("tar", options, new Uint8Array(archive));
  await run(Deno.execPath(), ["bundle", "--quiet", "--config", CONFIG, "-o", `${folder}/trial.js`, TRIAL]);
}

const reason = whyNot();
qemuTest(
  `in a guest with a KVM of its own, the driver finds it and runs a VM under it${
    reason === undefined ? "" : ` (not here: ${reason})`
  }`,
  async ({ driver, host, scope, state, sandbox }) => {
    const trial = `${state.root}/trial`;
    const deno = await Deno.realPath(Deno.execPath());
    await prepareTrial(trial);
    const shares = [["/usr", "/host/usr"], [trial, "/trial"], [folderOf(deno), "/deno"]] as const;
    const id = await driver.sandboxes?.create(
      sandbox({
        memory_mb: 768,
        cpus: 2,
        shares: shares.map(([folder, guest]) => ({ host: folder, guest, read_only: true })),
      }),
      scope,
    ) ?? "";
    const clock = host.clock;
    const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
    const argv = ["/bin/sh", "-c", INSIDE, "inside", nameOf(deno)];
    const { stdout, stderr, exit_code } = await runInGuest(openChannel(driver, vm), { argv }, {
      ...scope,
      clock,
    });
    assert.equal(exit_code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      ruled_out: null,
      boot_sector: BOOT_SECTOR_EXIT_CODE,
      state: "running",
      acceleration: "kvm",
      after_stop: "off",
    });
    await driver.vms.remove(id, scope);
  },
  reason === undefined,
);
