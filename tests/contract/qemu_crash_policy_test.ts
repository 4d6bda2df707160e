/** What the keeper keeps of real crashes: by the event, by the console's text alone, and after it was killed itself. */

import assert from "node:assert/strict";
import { type ErrorCode, HvError } from "../../src/base/errors.ts";
import { type CrashPolicy, KeptCrash } from "../../src/contract/crash_policy.ts";
import type { Vm, VmEvent } from "../../src/contract/vm.ts";
import { awaitKeptCrash } from "../../src/flows/crashes/await_kept_crash.ts";
import { wakeHungGuest } from "../../src/flows/crashes/guest_panic.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { wantKeeper } from "../../src/state/keeper_mark.ts";
import { crashFolder, readCrashNotes, writeCrashNote } from "../../src/state/crash_notes.ts";
import { findCrashModule } from "../support/hvcrash_module.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { eventsOf, lived, startKeeper } from "../support/test_keeper.ts";

const SILENT = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
/** Lets go of the device through which the guest tells of its panics. */
const WITHOUT_PVPANIC =
  "cd /sys/bus/pci/drivers/pvpanic-pci; for card in 0000:*; do echo $card > unbind; done";
const CRASH = "(sleep 0.2; echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &";
/** How a program ends whose guest is gone before it could be told that it had ended. */
const LOST: ReadonlySet<ErrorCode> = new Set(["hv.guest_crashed", "hv.outcome_unknown"]);

async function run({ driver, scope }: QemuLab, id: string, command: string): Promise<void> {
  const channel = openChannel(driver, await driver.vms.get(id, scope.signal));
  const { exit_code } = await channel.exec({ argv: ["sh", "-c", command] }, SILENT, scope.signal);
  assert.equal(exit_code, 0, command);
}

/** Begins what the guest does not outlive, which may happen before the command's own end is told. */
async function runLast(lab: QemuLab, id: string, command: string): Promise<void> {
  try {
    await run(lab, id, command);
  } catch (error) {
    if (!(error instanceof HvError) || !LOST.has(error.code)) throw error;
  }
}

async function untilCrash({ driver, host, scope }: QemuLab, id: string): Promise<Vm> {
  return await waitUntil(driver, id, "crash", { ...scope, clock: host.clock });
}

/** The crashes in the history, with what was kept of each. */
async function crashesOf(lab: QemuLab, id: string): Promise<{ event: VmEvent; kept: KeptCrash }[]> {
  const events = (await eventsOf(lab, id)).filter(({ event }) => event === "crashed");
  return events.map((event) => ({ event, kept: KeptCrash.parse(event.details["crash"]) }));
}

/** A sandbox that outlives its call, which has a lasting VM's policy. */
async function make(
  { driver, scope, sandbox }: QemuLab,
  name: string,
  on_crash: CrashPolicy,
): Promise<string> {
  const id = await driver.sandboxes?.create(sandbox({ name }), scope) ?? "";
  await driver.crashes?.configure(id, { on_crash }, scope);
  return id;
}

/** A crash that nobody sees is found by the next keeper. */
async function assertFoundLate(lab: QemuLab): Promise<void> {
  const id = await make(lab, "late", "collect");
  await runLast(lab, id, CRASH);
  await untilCrash(lab, id);
  await using _keeper = await startKeeper(lab);
  await lived(lab, id, 2);
  const [late] = await crashesOf(lab, id);
  assert.equal(late?.event.details["late"], true);
  assert.ok(late.kept.core !== undefined && late.kept.triage === undefined);
  await lab.driver.vms.remove(id, lab.scope);
}

/** All of a crash is kept, and a keeper that is killed on the way is gone on for. */
async function assertKept(lab: QemuLab): Promise<void> {
  const { driver, host, state, scope } = lab;
  const id = await make(lab, "event", "triage");
  {
    await using _keeper = await startKeeper(lab);
    await lived(lab, id, 1);
    await runLast(lab, id, CRASH);
    const kept = await awaitKeptCrash({ ...lab, ...scope }, await untilCrash(lab, id));
    assert.deepEqual([kept?.bucket, kept?.failure], ["sysrq-crash", undefined]);
    const { reduced, kept_bytes = 0, of_bytes = 0 } = kept?.memory ?? {};
    assert.ok(reduced && kept_bytes < of_bytes / 8, "the core holds what its readers need");
    assert.match(Deno.readTextFileSync(kept?.console ?? ""), /---\[ end Kernel panic/, "it printed its end");
    assert.match(Deno.readTextFileSync(kept?.log ?? ""), /sysrq: Trigger a crash/);
    assert.equal(JSON.parse(Deno.readTextFileSync(kept?.triage ?? "")).crash.evidence, "core");
    assert.equal((await driver.vms.get(id, scope.signal)).state, "crashed", "it is halted again");
    assert.deepEqual(await lived(lab, id, 2), ["started", "crashed"]);
    assert.deepEqual((await crashesOf(lab, id))[0]?.kept, kept);
    await driver.vms.stop(id, "off", scope);
    await lived(lab, id, 3);
  }
  // As a keeper leaves it that is killed once the core is there.
  const [note] = await readCrashNotes(host, state, id);
  assert.ok(note !== undefined);
  const { kept: _, ...rest } = note;
  await writeCrashNote(host, state, { ...rest, state: "open" });
  await Deno.remove(`${crashFolder(state, note)}/triage.json`);
  await using _keeper = await startKeeper(lab);
  await lived(lab, id, 4);
  const found = (await crashesOf(lab, id))[1];
  assert.equal(found?.event.details["late"], true);
  assert.equal(found.kept.core, `${crashFolder(state, note)}/memory.elf`);
  assert.equal(found.kept.bucket, "sysrq-crash");
  await driver.vms.remove(id, scope);
  assert.equal((await readCrashNotes(host, state, id)).length, 1, "what was kept outlives its VM");
}

/** A guest without the pvpanic driver is heard by what it prints. */
async function assertHeard(lab: QemuLab): Promise<void> {
  const { driver, scope } = lab;
  const id = await make(lab, "text", "collect");
  await using _keeper = await startKeeper(lab);
  await lived(lab, id, 1);
  await runLast(lab, id, `${WITHOUT_PVPANIC}; ${CRASH}`);
  const kept = await awaitKeptCrash({ ...lab, ...scope }, await untilCrash(lab, id));
  assert.equal(kept?.failure, undefined);
  assert.ok(kept?.core !== undefined);
  assert.deepEqual(await lived(lab, id, 2), ["started", "crashed"]);
  assert.equal((await crashesOf(lab, id))[0]?.event.details["seen"], "console");
  await driver.crashes?.configure(id, { on_crash: "stop" }, scope);
  const { state, on_crash } = await driver.vms.get(id, scope.signal);
  assert.deepEqual([state, on_crash], ["paused", undefined], "without a policy QEMU's own word counts");
  await driver.vms.remove(id, scope);
}

/** A keeper in a process of its own, killed once it has looked at the VM's console. */
async function outliveKeeper({ host, state, scope }: QemuLab, id: string): Promise<void> {
  const note = `${state.vm(id)}/console.json`;
  await host.files.remove(note);
  await wantKeeper(host, state);
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const args = [
    "run",
    "--quiet",
    "--no-check",
    "-A",
    decodeURIComponent(main),
    "keeper",
    `--state=${state.root}`,
  ];
  const keeper = new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "null" }).spawn();
  while (await host.files.stat(note) === undefined) {
    await host.clock.sleep(50, scope.signal);
  }
  keeper.kill("SIGKILL");
  await keeper.status;
}

/** What was printed after the death of a keeper is read by the next one. */
async function assertReadLate(lab: QemuLab, id: string): Promise<void> {
  const { driver, host, state, scope } = lab;
  await outliveKeeper(lab, id);
  await runLast(lab, id, `${WITHOUT_PVPANIC}; ${CRASH}`);
  const log = `${state.vm(id)}/serial.log`;
  while (!Deno.readTextFileSync(log).includes("---[ end Kernel panic")) {
    await host.clock.sleep(50, scope.signal);
  }
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running", "nobody has heard it");
  await using _keeper = await startKeeper(lab);
  assert.deepEqual((await lived(lab, id, 3)).slice(2), ["crashed"]);
  const [crash] = await crashesOf(lab, id);
  const { seen, late, panic } = crash?.event.details ?? {};
  assert.deepEqual([seen, late, panic], ["console", true, "sysrq triggered crash"]);
  assert.ok(crash?.kept.core !== undefined && crash.kept.failure === undefined);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "crashed");
}

/** Waits until the VM's kernel has confirmed what it panics at. */
async function untilTold({ driver, host, scope }: QemuLab, id: string): Promise<void> {
  while (!(await driver.vms.get(id, scope.signal)).panic_told) await host.clock.sleep(50, scope.signal);
}

/** A kernel that runs is told what to panic at, and so is the next one that its machine boots. */
async function assertTold(lab: QemuLab, id: string): Promise<void> {
  const { driver, host, state, scope } = lab;
  const isOn = (names: string): Promise<void> =>
    run(lab, id, `for name in ${names}; do [ "$(cat /proc/sys/$name)" = 1 ] || exit 1; done`);
  const { panic_told, panic_problem = "" } = await driver.vms.get(id, scope.signal);
  assert.deepEqual([panic_told, panic_problem.length > 0], [false, true], "nobody has told it");
  await using _keeper = await startKeeper(lab);
  await untilTold(lab, id);
  await isOn("kernel/panic_on_oops");
  await runLast(lab, id, "(sleep 0.2; echo b > /proc/sysrq-trigger) > /dev/null 2>&1 &");
  assert.deepEqual((await lived(lab, id, 2)).slice(0, 2), ["started", "reset guest-reset"]);
  await driver.crashes?.configure(id, { panic_on: ["warn", "oom"] }, scope);
  await wantKeeper(host, state);
  await untilTold(lab, id);
  await isOn("kernel/panic_on_oops kernel/panic_on_warn vm/panic_on_oom");
}

/** One that lives is left alone; one that hangs panics. */
async function assertWoken(lab: QemuLab, module: Uint8Array): Promise<void> {
  const { driver, scope } = lab;
  const id = await make(lab, "hung", "stop");
  const vm = await driver.vms.get(id, scope.signal);
  assert.equal(await wakeHungGuest(lab, vm, scope.signal), false);
  assert.equal((await driver.vms.get(id, scope.signal)).state, "running");
  const parts = [module];
  const next = () => Promise.resolve(parts.shift() ?? null);
  await openChannel(driver, vm).writeFile("/tmp/hvcrash.ko", next, { overwrite: true }, scope.signal);
  await runLast(lab, id, "(sleep 0.2; insmod /tmp/hvcrash.ko kind=spin) > /dev/null 2>&1 &");
  while (!await wakeHungGuest(lab, vm, scope.signal)) scope.signal.throwIfAborted();
  await driver.vms.remove(id, scope);
}

const module = findCrashModule();
const POLICIES: readonly { promise: string; work: (lab: QemuLab) => Promise<void>; hasNeeds?: boolean }[] = [
  { promise: "a crash that nobody sees is found by the next keeper", work: assertFoundLate },
  { promise: "all of a crash is kept, by the next keeper where one was killed", work: assertKept },
  { promise: "a crash that only the console tells is kept", work: assertHeard },
  {
    promise: "a guest that hangs is made to crash",
    work: (lab) => assertWoken(lab, module ?? new Uint8Array()),
    hasNeeds: module !== undefined,
  },
];

for (const { promise, work, hasNeeds } of POLICIES) {
  qemuTest(promise, async (lab) => {
    // A clone of a machine that has booted is quicker than one that boots.
    await lab.driver.templates?.warm("tiny", { memory_mb: 128, cpus: 1 }, lab.scope);
    await work(lab);
  }, hasNeeds);
}

qemuTest(
  "a running kernel is told what to panic at, and a keeper reads what it said after the last one's death",
  async (lab) => {
    const id = await make(lab, "told", "collect");
    await assertTold(lab, id);
    await assertReadLate(lab, id);
    await lab.driver.vms.remove(id, lab.scope);
  },
);
