/** Dumps fetched out of Windows guests through PowerShell Direct: what their settings name, and what goes wrong on the way. */

import assert from "node:assert/strict";
import { DumpCollection } from "../../src/contract/dump_collect.ts";
import { collectDumps } from "../../src/flows/crashes/collect_dumps.ts";
import { failureOf } from "../support/failures.ts";
import { endSharedHost, faultTest, type HyperVLab } from "../support/hyperv_lab.ts";
import { dumpMachine, smallDump } from "../support/machine_dump.ts";
import { writeMachine } from "../support/machine_writer.ts";
import { type CrashGuest, makeCrashGuest, USUAL_SETTINGS } from "../support/windows_guest/crash_guest.ts";

const KERNEL = dumpMachine(writeMachine("x64"), "sdmp");
const SMALL = smallDump(writeMachine("x64")).bytes;

/** The guest's `powershell.exe` and what holds a file in it are made of Linux' programs. */
function guestTest(promise: string, work: (host: HyperVLab) => Promise<void>): void {
  if (Deno.build.os === "linux") return faultTest(promise, work);
  Deno.test({
    name: `hyperv: ${promise} (skipped: the guest's programs are of Linux)`,
    ignore: true,
    fn() {},
  });
}

async function running({ lab, world }: HyperVLab): Promise<CrashGuest> {
  await lab.call("vm_create", { name: "web", disk_size_mb: 64, memory_mb: 64 });
  const { id } = await lab.vm("vm_start", { vm: "web", until: "heartbeat" });
  return await makeCrashGuest(world, id);
}

async function collect({ lab }: HyperVLab, args: { overwrite?: boolean } = {}): Promise<DumpCollection> {
  return DumpCollection.parse(
    await lab.call("dump_collect", { vm: "web", output: `${lab.root}/dumps`, ...args }),
  );
}

/** The driver's own words for what it lacks, which stand beside what came. */
const NO_MEMORY = {
  source: "memory",
  code: "hv.unsupported",
  message: 'The driver "hyperv" cannot write a guest\'s memory',
};

function named({ files }: DumpCollection): unknown[] {
  return files.map((
    { path, dump_kind, bugcheck_code },
  ) => [path.split("/").at(-1), dump_kind, bugcheck_code]);
}

guestTest("every dump that the guest's settings name comes as a file that is recognised", async (host) => {
  const guest = await running(host);
  const none = await collect(host);
  assert.deepEqual([none.files, none.skipped], [[], [NO_MEMORY]]);
  await guest.write("MEMORY.DMP", KERNEL);
  await guest.write("Minidump/112926-4812-01.dmp", SMALL);
  await guest.write("Minidump/notes.txt", new TextEncoder().encode("no dump"));
  await guest.write("LiveKernelReports/WATCHDOG/WATCHDOG-1.dmp", SMALL);
  await guest.write("LiveKernelReports/half é.dmp", new TextEncoder().encode("no dump either"));
  const found = await collect(host);
  assert.deepEqual(found.skipped, [NO_MEMORY]);
  assert.deepEqual(named(found), [
    ["web-MEMORY.DMP", "bitmap_kernel", "0x000000d1"],
    ["web-112926-4812-01.dmp", "triage", "0x000000d1"],
    ["web-half_.dmp", null, null],
    ["web-WATCHDOG-WATCHDOG-1.dmp", "triage", "0x000000d1"],
  ]);
  assert.match(found.files[2]?.failure ?? "", /^Cannot read the dump/);
  assert.equal(found.files[0]?.guest_path, `${guest.systemRoot}/MEMORY.DMP`);
  assert.deepEqual(await Deno.readFile(found.files[0]?.path ?? ""), KERNEL);
  const output = `${host.lab.root}/dumps`;
  assert.equal((await host.lab.failure("dump_collect", { vm: "web", output })).code, "hv.conflict");
  const memory = await host.lab.failure("dump_collect", { vm: "web", output, guest: false });
  assert.deepEqual([memory.code, memory.message], [NO_MEMORY.code, NO_MEMORY.message]);
  await guest.configure({ ...USUAL_SETTINGS, DumpFile: "%SystemRoot%\\Kept\\kernel.dmp", MinidumpDir: "" });
  await guest.write("Kept/kernel.dmp", SMALL);
  await Deno.remove(`${guest.systemRoot}/LiveKernelReports`, { recursive: true });
  assert.deepEqual(named(await collect(host, { overwrite: true })), [
    ["web-Kept-kernel.dmp", "triage", "0x000000d1"],
    ["web-112926-4812-01.dmp", "triage", "0x000000d1"],
  ]);
});

guestTest("a dump that is gone or locked is left out with its reason, and the others come", async (host) => {
  const guest = await running(host);
  await guest.write("MEMORY.DMP", KERNEL);
  await guest.write("Minidump/1.dmp", SMALL);
  await guest.write("Minidump/2.dmp", SMALL);
  await guest.loseWhenListed("Minidump/1.dmp");
  await using _ = await lock(`${guest.systemRoot}/MEMORY.DMP`);
  const found = await collect(host);
  assert.deepEqual(named(found), [["web-2.dmp", "triage", "0x000000d1"]]);
  assert.deepEqual(found.skipped.map(({ guest_path, code }) => [guest_path, code]), [
    [`${guest.systemRoot}/MEMORY.DMP`, "hv.io"],
    [`${guest.systemRoot}/Minidump/1.dmp`, "hv.not_found"],
    [undefined, "hv.unsupported"],
  ]);
  assert.match(found.skipped[0]?.message ?? "", /^The guest cannot read ".*MEMORY.DMP": .*another process/);
  assert.deepEqual([...Deno.readDirSync(`${host.lab.root}/dumps`)].map(({ name }) => name), ["web-2.dmp"]);
});

guestTest("refused credentials and a full disk of this host end it with their reason", async (host) => {
  const guest = await running(host);
  await guest.write("MEMORY.DMP", KERNEL);
  const { lab, world } = host;
  const full = {
    ...world.host,
    files: { ...world.host.files, create: () => world.host.files.create("/dev/full", { overwrite: true }) },
  };
  const vm = await lab.vm("vm_get", { vm: "web" });
  const output = `${lab.root}/full`;
  const scope = { signal: AbortSignal.timeout(300_000), progress: () => {} };
  const options = { output, guest: true, memory: false, sparse: false, overwrite: false };
  const driver = await lab.session.driver();
  const failure = await failureOf("hv.io", () => collectDumps(full, driver, vm, options, scope));
  assert.equal(failure.context.reason, "disk_full");
  assert.deepEqual([...Deno.readDirSync(output)], []);
  world.variables.set("HVLAB_GUEST_PASSWORD", "wrong");
  const stranger = await host.another();
  const refused = await stranger.failure("dump_collect", { vm: "web", output });
  world.variables.set("HVLAB_GUEST_PASSWORD", "lab");
  assert.equal(refused.code, "hv.guest_auth");
  assert.deepEqual(refused.context.skipped, [
    "guest: The guest refuses the user or the password",
    'memory: The driver "hyperv" cannot write a guest\'s memory',
  ]);
});

endSharedHost();

/** Holds a file as a program of the guest does that lets nobody else in, until disposed. */
async function lock(path: string): Promise<AsyncDisposable> {
  const holder = new Deno.Command("flock", {
    args: ["--exclusive", path, "sh", "-c", "echo held; exec cat"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  await holder.stdout.getReader().read();
  return {
    async [Symbol.asyncDispose]() {
      await holder.stdin.close();
      await holder.status;
    },
  };
}
