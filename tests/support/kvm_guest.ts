/**
 * A guest with a KVM of its own, on hosts that have none: its emulated processor offers AMD's virtualisation. It sees
 * this host's programs, read-only, and runs them from a root folder at {@link INSIDE}.
 */

import assert from "node:assert/strict";
import type { Vm } from "../../src/contract/vm.ts";
import type { GuestChannel } from "../../src/guest/channel.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import type { QemuLab } from "./qemu_lab.ts";
import { hasProgram } from "./tiny_image.ts";

/** Where the guest has the root folder from which this host's programs run. */
export const INSIDE = "/host";

/** A folder of this host that the guest has as well. */
export interface SeenFolder {
  host: string;
  /** Where it is in the guest. */
  guest: string;
  read_only: boolean;
}

const DEBS = new URL("../../dist/tiny/debs/", import.meta.url).pathname;
const MODULES = ["irqbypass", "kvm", "kvm-amd"];

const PREPARE = `
set -e
cd ${INSIDE}
for name in bin sbin lib lib64; do ln -s usr/$name $name; done
mkdir -p proc sys dev tmp root
for name in proc sys dev; do mount -o bind /$name $name; done
for name in ${MODULES.join(" ")}; do insmod /modules/$name.ko; done
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

/** Why there can be no such guest here; `undefined` where it can be. */
export function whyNoKvmGuest(): string | undefined {
  if (Deno.build.arch !== "x86_64" || Deno.build.os !== "linux") return "this is no x86-64 Linux";
  if (findKernelPackage() === undefined) return "the tiny guest's kernel package is not in dist/tiny/debs";
  if (Deno.uid() !== 0) return "sharing /usr with a guest needs root";
  for (const program of ["dpkg-deb", "tar"]) if (!hasProgram(program)) return `${program} is not installed`;
  return undefined;
}

/** Starts the guest, as a sandbox of the lab, and loads its KVM. */
export async function startKvmGuest(
  lab: QemuLab,
  { memory_mb, folders }: { memory_mb: number; folders: readonly SeenFolder[] },
): Promise<{ vm: Vm; channel: GuestChannel }> {
  const { driver, host, scope, state } = lab;
  const modules = `${state.root}/modules`;
  await unpackModules(modules);
  const shares = [
    { host: "/usr", guest: `${INSIDE}/usr`, read_only: true },
    { host: modules, guest: "/modules", read_only: true },
    ...folders,
  ];
  // Two emulated processors that host a guest can lock each other out for good (seen on QEMU 7.2), and are slower.
  const id = await driver.sandboxes?.create(lab.sandbox({ memory_mb, cpus: 1, shares }), scope) ?? "";
  const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock: host.clock });
  const channel = openChannel(driver, vm);
  const argv = ["/bin/sh", "-c", PREPARE];
  const { exit_code, stderr } = await runInGuest(channel, { argv }, { ...scope, clock: host.clock });
  assert.equal(exit_code, 0, stderr);
  return { vm, channel };
}

/** The modules of the tiny guest's kernel that it has no use for itself. */
async function unpackModules(folder: string): Promise<void> {
  await Deno.mkdir(folder);
  const archive = await run("dpkg-deb", ["--fsys-tarfile", findKernelPackage() ?? ""]);
  const wanted = MODULES.map((name) => `*/${name}.ko`);
  await run("tar", ["-x", "-C", folder, "--wildcards", "--transform", "s,.*/,,", ...wanted], archive);
}

async function run(
  program: string,
  args: readonly string[],
  stdin: Uint8Array<ArrayBuffer> = new Uint8Array(),
): Promise<Uint8Array<ArrayBuffer>> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  })
    .spawn();
  const writer = child.stdin.getWriter();
  const fed = writer.write(stdin).then(() => writer.close());
  const [{ code, stdout }] = await Promise.all([child.output(), fed.catch(() => {})]);
  assert.equal(code, 0, `${program} ended with ${code}`);
  return stdout;
}
