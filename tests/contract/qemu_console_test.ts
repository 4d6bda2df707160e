/** The console of real machines: what a guest takes from its keyboard, mouse and serial line, and what it shows. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import type { Picture } from "../../src/base/png.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { Vm } from "../../src/contract/vm.ts";
import type { SerialLine, SerialLog } from "../../src/drivers/console_abilities.ts";
import { BOUND_BYTES, boundSerialLog, KEPT_BYTES } from "../../src/drivers/qemu/console/serial_bound.ts";
import { SERIAL_LOG } from "../../src/drivers/qemu/power/instance.ts";
import { VmRecords } from "../../src/drivers/qemu/records.ts";
import { attachTerminal } from "../../src/flows/console/attach_terminal.ts";
import { strokesOfKeys, strokesOfText } from "../../src/flows/console/keyboard/strokes.ts";
import { textFinder } from "../../src/flows/console/line_finder.ts";
import { readPart, SerialSearch } from "../../src/flows/console/serial_text.ts";
import { showsTheSame } from "../../src/flows/console/settled_screen.ts";
import { waitForSerial, waitUntilSettled } from "../../src/flows/console/wait_for_console.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import { TestTerminal } from "../support/test_terminal.ts";

/** The first terminal's shell comes up behind the agent. */
const AWAIT_SHELL = "until ls -l /proc/[0-9]*/fd/0 | grep -q ' /dev/tty1$'; do sleep 0.1; done 2>/dev/null";
/** Keeps what each input device tells, from when its program has opened it. */
const KEEP_INPUT = `for event in /dev/input/event*; do
  cat $event >/tmp/\${event##*/} &
  until ls -l /proc/$!/fd | grep -q $event; do sleep 0.1; done
done >/dev/null 2>&1`;
const ALL_PUNCTUATION = "aZ09 `~!@#$%^&*()-_=+[]{}\\|;:'\",.<>/?";

/** A lasting VM whose guest answers, and a way to run a script in it. */
async function runningVm(
  lab: QemuLab,
  changes: Parameters<QemuLab["vm"]>[0] = {},
): Promise<{ id: string; run: (script: string) => Promise<string> }> {
  const { driver, scope } = lab;
  const id = await driver.vms.create(lab.vm(changes), scope);
  await driver.vms.start(id, scope);
  const run = (script: string): Promise<string> => runIn(lab, id, script);
  await run("true");
  return { id, run };
}

/** What a script in the guest writes. */
async function runIn({ driver, scope }: QemuLab, id: string, script: string): Promise<string> {
  const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
  assert.ok(channel !== undefined);
  await channel.ping(scope.signal);
  let out = "";
  const stdout = (bytes: Uint8Array): Promise<void> => {
    out += new TextDecoder().decode(bytes);
    return Promise.resolve();
  };
  await channel.exec({ argv: ["sh", "-c", script] }, { stdout, stderr: stdout }, scope.signal);
  return out;
}

function consoleOf({ driver }: QemuLab): NonNullable<QemuLab["driver"]["console"]> {
  assert.ok(driver.console !== undefined);
  return driver.console;
}

/** Looks again until it is as wanted, as long as the test may take. */
async function until<T>(
  { host, scope }: QemuLab,
  look: () => Promise<T>,
  isThere: (found: T) => boolean,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (isThere(found)) return found;
    await host.clock.sleep(50, scope.signal);
  }
}

/** The state in which a VM is that runs no more. */
async function stateBehindRunning(lab: QemuLab, id: string): Promise<Vm> {
  const look = (): Promise<Vm> => lab.driver.vms.get(id, lab.scope.signal);
  return await until(lab, look, ({ state }) => state !== "running" && state !== "unknown");
}

/** Waits in vain for a screen to settle, until the wait has been shown a change and looks once more. */
async function settleInVain(lab: QemuLab, id: string): Promise<HvError> {
  const console = consoleOf(lab);
  const limit = new AbortController();
  let last: Picture | undefined;
  let hasChanged = false;
  const screen: typeof console.screen = async (...question) => {
    if (hasChanged) limit.abort(new HvError("hv.timeout", "too late"));
    limit.signal.throwIfAborted();
    const now = await console.screen(...question);
    hasChanged ||= last !== undefined && !showsTheSame(last, now);
    return last = now;
  };
  const driver = { ...lab.driver, console: { ...console, screen } };
  const signal = AbortSignal.any([lab.scope.signal, limit.signal]);
  return await failureOf("hv.timeout", () => settle({ ...lab, driver }, id, 600, signal));
}

async function settle(lab: QemuLab, id: string, seconds: number, signal = lab.scope.signal): Promise<void> {
  const vm = await lab.driver.vms.get(id, signal);
  await waitUntilSettled(lab.driver, vm, seconds * 1000, { signal, clock: lab.host.clock });
}

async function attach(lab: QemuLab, id: string, driver = lab.driver): Promise<SerialLine> {
  assert.ok(driver.serial !== undefined);
  return await driver.serial.attach(id, lab.scope.signal);
}

async function awaitSerial(lab: QemuLab, id: string, text: string, from = 0): Promise<void> {
  const { driver, scope, host } = lab;
  const vm = await driver.vms.get(id, scope.signal);
  const search = new SerialSearch(textFinder(text), from);
  await waitForSerial(driver, vm, search, text, { signal: scope.signal, clock: host.clock });
}

qemuTest(
  "a lasting guest is seen, typed to, pointed at, talked to, debugged and interrupted",
  async (lab) => {
    const { driver, scope, host } = lab;
    const { id, run } = await runningVm(lab);
    const { press, point, screen } = consoleOf(lab);

    await run(AWAIT_SHELL);
    await settle(lab, id, 0.5);
    const before = await screen(id, scope.signal);
    const lines = ["cat >/tmp/typed", ALL_PUNCTUATION, "x".repeat(80)];
    for (const line of lines) await press(id, strokesOfText(`${line}\n`, "us"), scope);
    await press(id, strokesOfKeys("ctrl-d"), scope);
    const typed = await until(lab, () => run("cat /tmp/typed"), (text) => text.endsWith("x\n"));
    assert.equal(typed, `${ALL_PUNCTUATION}\n${"x".repeat(80)}\n`);
    assert.notDeepEqual((await screen(id, scope.signal)).rgb, before.rgb, "the screen is the guest's");

    await run(KEEP_INPUT);
    const button = { kind: "button", button: "left" } as const;
    await point(id, [{ kind: "place", x: 0, y: before.height - 1 }, { ...button, down: true }], scope);
    await point(id, [{ kind: "place", x: before.width - 1, y: 0 }, { ...button, down: false }], scope);
    // The last three of an event's numbers are its type, its code, and its value: axes go to 32767, 272 is the left button.
    const told = await until(lab, async () => {
      const lines = (await run("cat /tmp/event* | od -An -v -t u2 -w24")).trim().split("\n");
      return lines.map((line) => line.trim().split(/\s+/).slice(8, 11).join(" "));
    }, (events) => events.includes("1 272 0"));
    for (const wanted of ["3 1 32767", "1 272 1", "3 0 32767", "3 1 0", "1 272 0"]) {
      assert.ok(told.includes(wanted), `${wanted} in ${told.join(", ")}`);
    }
    const beside = { kind: "place", x: before.width, y: 0 } as const;
    await failureOf("hv.usage", () => point(id, [beside], scope));

    await awaitSerial(lab, id, "login:");
    {
      await using line = await attach(lab, id);
      const held = await failureOf("hv.conflict", () => attach(lab, id, lab.another()));
      assert.equal(held.context.reason, "line_held");
      await line.write(new TextEncoder().encode("nobody\r"));
      await awaitSerial(lab, id, "Password:");
      assert.ok((await line.read() ?? []).length > 0, "what is written is read as well");
    }
    const terminal = TestTerminal.with({
      keys: [new TextEncoder().encode("x\r"), Uint8Array.of(0x1d, 0x78)],
    });
    {
      await using line = await attach(lab, id, lab.another());
      using log = await driver.serial?.log(id);
      assert.equal(await attachTerminal(terminal.takeOver(), line, log, "web", scope.signal), "detached");
    }
    assert.match(terminal.out, /Ctrl-\] detaches.*stty rows 24 cols 80[^]*Password:/);

    await press(id, strokesOfText("while :; do dmesg; done\n", "us"), scope);
    assert.ok(Number((await settleInVain(lab, id)).context.changes) > 0);
    await press(id, strokesOfKeys("ctrl-c"), scope);
    await settle(lab, id, 0.5);

    assert.ok(driver.debug_stub !== undefined);
    const { socket } = await driver.debug_stub.open(id, scope);
    assert.deepEqual(await driver.debug_stub.open(id, scope), { socket });
    assert.match(await askDebugger(lab, socket), /\$[ST]0/, "it tells why the guest stands still");
    assert.equal((await driver.vms.get(id, scope.signal)).state, "paused");
    await driver.pause?.resume(id, scope);
    assert.deepEqual(
      [await driver.debug_stub.close(id, scope), await driver.debug_stub.close(id, scope)],
      [true, false],
    );
    assert.equal(await host.sockets.connectUnix(socket), undefined);

    await driver.nmi?.inject(id, scope);
    assert.equal((await stateBehindRunning(lab, id)).state, "crashed");
    assert.equal((await screen(id, scope.signal)).width, before.width, "a crash can be looked at");
    await failureOf("hv.conflict", () => press(id, strokesOfKeys("enter"), scope));
    await failureOf("hv.guest_crashed", () => awaitSerial(lab, id, "never written"));
    await driver.vms.stop(id, "off", scope);
    await failureOf("hv.conflict", () => attach(lab, id));
    using log = await driver.serial?.log(id);
    assert.ok((log?.size ?? 0) > 0, "the log outlives the machine");
  },
);

/** Asks a stub why its machine stands still, as a debugger does first. */
async function askDebugger({ host }: QemuLab, socket: string): Promise<string> {
  using connection = await host.sockets.connectUnix(socket);
  assert.ok(connection !== undefined);
  await connection.write(new TextEncoder().encode("$?#3f"));
  let answer = "";
  while (!answer.includes("#")) {
    const bytes = await connection.read();
    assert.ok(bytes !== null);
    answer += new TextDecoder().decode(bytes);
  }
  return answer;
}

qemuTest(
  "a guest whose disk's file finds no room stands still and goes on when there is some",
  async (lab) => {
    const { driver, scope, state } = lab;
    const id = await driver.vms.create(lab.vm({ disk_size_mb: 32 }), scope);
    const small = `${state.root}/small`;
    await Deno.mkdir(small);
    if (!await mount(small, "size=2m")) return;
    try {
      const [disk] = [...Deno.readDirSync(state.vm(id))].filter(({ name }) => name.endsWith(".qcow2"));
      assert.ok(disk !== undefined);
      await Deno.copyFile(`${state.vm(id)}/${disk.name}`, `${small}/disk`);
      await Deno.remove(`${state.vm(id)}/${disk.name}`);
      await Deno.symlink(`${small}/disk`, `${state.vm(id)}/${disk.name}`);
      await driver.vms.start(id, scope);
      // Nobody waits for it meanwhile: a guest that stands still does not answer.
      const write = "yes 0123456789abcde | dd of=/dev/vda bs=64k count=128 conv=fsync iflag=fullblock";
      await runIn(lab, id, `(${write}; echo $? >/tmp/written) >/dev/null 2>&1 &`);
      const full = await stateBehindRunning(lab, id);
      assert.deepEqual([full.state, full.state_reason], ["io_error", "The host's disk is full"]);
      await driver.pause?.resume(id, scope);
      const again = await stateBehindRunning(lab, id);
      assert.equal(again.state, "io_error", "without room it stands still again");
      assert.ok(await mount(small, "remount,size=64m"));
      await driver.pause?.resume(id, scope);
      const outcome = "while [ ! -s /tmp/written ]; do sleep 0.1; done; cat /tmp/written";
      assert.equal(await runIn(lab, id, outcome), "0\n", "the guest has lost nothing");
    } finally {
      // What is mounted goes also when the test's own time is over.
      await driver.vms.stop(id, "off", { ...scope, signal: new AbortController().signal });
      await new Deno.Command("umount", { args: [small] }).output();
    }
  },
);

/** Only root may mount. */
async function mount(folder: string, options: string): Promise<boolean> {
  try {
    const args = ["-t", "tmpfs", "-o", options, "none", folder];
    return (await new Deno.Command("mount", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

qemuTest("a guest that pours 100 MB leaves a log that is bounded, and its offsets hold", async (lab) => {
  const { driver, scope, state, host, findings } = lab;
  const id = await driver.vms.create(lab.vm(), scope);
  assert.equal(await driver.serial?.log(id), undefined, "it has never run");
  const path = `${state.vm(id)}/${SERIAL_LOG}`;
  {
    using file = Deno.openSync(path, { write: true, create: true });
    const block = new TextEncoder().encode("0123456789abcde\n".repeat(64 * 1024));
    for (let written = 0; written < 100; written++) file.writeSync(block);
    file.writeSync(new TextEncoder().encode("the end\n"));
  }
  const context = { host, state, config: DEFAULT_CONFIG, findings };
  const record = await new VmRecords(context).get(id);
  assert.equal(await boundSerialLog(context, record), true);
  assert.equal(await boundSerialLog(context, record), false, "once is enough");
  const taken = (await host.files.stat(path))?.allocated_bytes ?? Infinity;
  assert.ok(taken <= BOUND_BYTES, `${taken} bytes are taken`);
  using log = await driver.serial?.log(id);
  assert.ok(log !== undefined);
  assert.equal(log.size, 100 * 1024 * 1024 + 8);
  assert.ok(log.size - log.kept_from >= KEPT_BYTES);
  const whole = log;
  let asked = 0;
  const counting: SerialLog = {
    ...whole,
    read(offset, length) {
      asked += length;
      return whole.read(offset, length);
    },
  };
  assert.match(readPart(counting, undefined, 64 * 1024).text, /^[^]*0123456789abcde\nthe end\n$/);
  assert.equal(asked, 64 * 1024, "the end alone is read");
  const first = readPart(log, 0, 16);
  assert.deepEqual([first.offset, first.dropped_bytes], [log.kept_from, log.kept_from]);
  assert.match(first.text, /^0123456789abcde\n$/);
});
