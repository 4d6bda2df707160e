import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import type { Progress } from "../../../../src/contract/operation.ts";
import type { ReadinessLevel, Vm, VmState } from "../../../../src/contract/vm.ts";
import { waitUntil } from "../../../../src/flows/waiting/wait_until.ts";
import { HandClock } from "../../../support/hand_clock.ts";
import { failureOf } from "../../../support/failures.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";

/** A clock that lets other work go on while it sleeps, and obeys its signal. */
class PatientClock extends HandClock {
  override async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal?.throwIfAborted();
    this.advance(milliseconds);
  }
}

/** A guest that answers when it is told to. */
class SleepyGuest extends MemoryGuest {
  readonly awake = Promise.withResolvers<void>();

  override ping(signal?: AbortSignal): Promise<void> {
    signal?.addEventListener("abort", () => this.awake.reject(signal.reason), { once: true });
    return this.awake.promise;
  }
}

interface Scene {
  driver: MemoryDriver;
  id: string;
  guest: SleepyGuest;
  clock: PatientClock;
  messages: string[];
  caller: AbortController;
  wait(level: ReadinessLevel): Promise<Vm>;
  set(state: VmState): void;
}

async function openScene(state: VmState): Promise<Scene> {
  const driver = new MemoryDriver();
  const id = await driver.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  const guest = new SleepyGuest();
  const clock = new PatientClock();
  const caller = new AbortController();
  const messages: string[] = [];
  const set = (next: VmState): void => {
    const machine = driver.machines.get(id);
    if (machine !== undefined) Object.assign(machine.vm, { state: next });
  };
  const machine = driver.machines.get(id);
  if (machine !== undefined) machine.guest = guest;
  set(state);
  const progress = ({ message }: Progress): void => void messages.push(message);
  const wait = (level: ReadinessLevel): Promise<Vm> =>
    waitUntil(driver, id, level, { signal: caller.signal, clock, progress });
  return { driver, id, guest, clock, messages, caller, wait, set };
}

Deno.test("a level that is there is answered at once, from a fresh look", async () => {
  assert.equal((await (await openScene("running")).wait("running")).state, "running");
  assert.equal((await (await openScene("off")).wait("off")).state, "off");
  assert.equal((await (await openScene("crashed")).wait("crash")).state, "crashed");
});

Deno.test("a heartbeat is the guest's own answer", async () => {
  const scene = await openScene("running");
  const waiting = scene.wait("heartbeat");
  let answered = false;
  waiting.then(() => answered = true, () => {});
  for (let round = 0; round < 10; round++) await scene.clock.sleep(1000);
  assert.equal(answered, false);
  scene.guest.awake.resolve();
  assert.equal((await waiting).state, "running");
});

Deno.test("a machine that is still starting is waited for", async () => {
  const scene = await openScene("starting");
  const waiting = scene.wait("running");
  await scene.clock.sleep(1000);
  scene.set("running");
  assert.equal((await waiting).state, "running");
  assert.deepEqual(scene.messages, [
    "waiting for running, the VM is starting",
    "waiting for running, the VM is running",
  ]);
});

Deno.test("a VM that is off never gets a heartbeat, and the answer says so at once", async () => {
  const failure = await failureOf("hv.conflict", async () => (await openScene("off")).wait("heartbeat"));
  assert.deepEqual([failure.context.wanted, failure.context.found], ["heartbeat", "off"]);
  assert.match(failure.hint ?? "", /vm start/);
});

Deno.test("what happens to the machine meanwhile ends the wait", async () => {
  for (const [state, code] of [["crashed", "hv.guest_crashed"], ["off", "hv.conflict"]] as const) {
    const scene = await openScene("running");
    const waiting = scene.wait("heartbeat");
    await scene.clock.sleep(1000);
    scene.set(state);
    const failure = await failureOf(code, () => waiting);
    assert.equal(failure.context.found, state);
  }
});

Deno.test("a passed limit says what was wanted, what was seen and how long the wait was", async () => {
  const scene = await openScene("running");
  const waiting = scene.wait("off");
  while (scene.clock.steady < 5000) await new Promise((resolve) => setTimeout(resolve, 0));
  scene.caller.abort(
    new HvError("hv.timeout", "The time limit has passed", { context: { timeout_ms: 4000 } }),
  );
  const { context, message } = await failureOf("hv.timeout", () => waiting);
  assert.deepEqual([context.wanted, context.found, context.timeout_ms], ["off", "running", 4000]);
  assert.ok(Number(context.waited_s) >= 4);
  assert.match(message, /has not reached "off": it is running, waited \d+(\.\d)? s/);
});

Deno.test("a cancelled wait rejects with the reason", async () => {
  const scene = await openScene("running");
  const reason = new HvError("hv.cancelled", "The call was cancelled");
  const waiting = scene.wait("heartbeat");
  await scene.clock.sleep(1000);
  scene.caller.abort(reason);
  assert.equal(await failureOf("hv.cancelled", () => waiting), reason);
});

Deno.test("an address is asked of the network cards, which not every driver knows", async () => {
  const failure = await failureOf("hv.unsupported", async () => (await openScene("running")).wait("address"));
  assert.match(failure.message, /no nics/);
});

Deno.test("a crash or a passed limit carries the last words of the machine", async () => {
  const scene = await openScene("running");
  Object.assign(scene.driver, { lastWords: () => Promise.resolve("VFS: no init\nKernel panic") });
  const late = scene.wait("off");
  await scene.clock.sleep(1000);
  scene.caller.abort(new HvError("hv.timeout", "The time limit has passed"));
  const timeout = await failureOf("hv.timeout", () => late);
  assert.equal(timeout.context.serial_tail, "VFS: no init\nKernel panic");
  assert.match(timeout.hint ?? "", /--timeout.*VFS: no init \| Kernel panic$/);
  const other = await openScene("crashed");
  Object.assign(other.driver, { lastWords: () => Promise.resolve("Kernel panic") });
  const crash = await failureOf("hv.guest_crashed", () => other.wait("heartbeat"));
  assert.equal(crash.context.serial_tail, "Kernel panic");
  const silent = await openScene("crashed");
  Object.assign(silent.driver, { lastWords: () => Promise.reject(new Error("unreadable")) });
  assert.equal(
    "serial_tail" in (await failureOf("hv.guest_crashed", () => silent.wait("heartbeat"))).context,
    false,
  );
});
