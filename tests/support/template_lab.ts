/** What tests of warm templates share: making them and their clones, breaking them, and seeing that nothing is left. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { ProcessView, type QemuProcess } from "../../src/drivers/qemu/identity.ts";
import type { Host } from "../../src/host/host.ts";
import type { QemuLab } from "./qemu_lab.ts";

/** The size of every machine here. */
export const SIZE = { memory_mb: 128, cpus: 1 };

/** Makes the template, unless it is there. */
export async function warm({ driver, scope }: QemuLab): Promise<{ made: boolean; folder: string }> {
  const template = await driver.templates?.warm("tiny", SIZE, scope);
  assert.ok(template !== undefined);
  return template;
}

/** Makes a sandbox; answers its id and the warnings that came with it. */
export async function create(
  lab: QemuLab,
  changes: Parameters<QemuLab["sandbox"]>[0] = {},
  driver = lab.driver,
): Promise<{ id: string; warnings: string[] }> {
  const warnings: string[] = [];
  const scope = { ...lab.scope, warn: (text: string) => void warnings.push(text) };
  const id = await driver.sandboxes?.create(lab.sandbox({ tiedToUs: true, ...changes }), scope);
  assert.ok(id !== undefined);
  return { id, warnings };
}

/** What a program in the guest prints; it must end well. */
export async function run(
  lab: QemuLab,
  id: string,
  argv: string[],
  driver: Driver = lab.driver,
): Promise<string> {
  const { signal } = lab.scope;
  const [channel] = driver.channels(await driver.vms.get(id, signal));
  assert.ok(channel !== undefined);
  const chunks: Uint8Array[] = [];
  const collect = (bytes: Uint8Array): Promise<void> => Promise.resolve(void chunks.push(bytes));
  try {
    const exit = await channel.exec({ argv }, { stdout: collect, stderr: collect }, signal);
    assert.equal(exit.exit_code, 0, argv.join(" "));
  } finally {
    channel.close();
  }
  return new TextDecoder().decode(await new Blob(chunks.map((chunk) => chunk.slice())).bytes());
}

/** Keeps its size and time, so that only QEMU can see that it is no device state. */
export async function breakDeviceState(folder: string): Promise<void> {
  const path = `${folder}/state`;
  const { size, mtime } = await Deno.stat(path);
  assert.ok(mtime !== null);
  await Deno.chmod(path, 0o600);
  await Deno.writeFile(path, new Uint8Array(size).fill(0x2a));
  await Deno.utime(path, mtime, mtime);
}

/** Whether a running VM is a clone: its QEMU waits for a device state instead of booting. */
export async function isClone({ driver, host, scope }: QemuLab, id: string): Promise<boolean> {
  const { pid } = await driver.vms.get(id, scope.signal);
  return / -incoming defer/.test((await host.processes.describe(pid ?? 0))?.args ?? "");
}

/** The names in a folder, in order; none when it is not there. */
export function namesIn(folder: string): string[] {
  return existsSync(folder) ? [...Deno.readDirSync(folder)].map(({ name }) => name).sort() : [];
}

/** Every QEMU of this lab. */
export async function machinesOf({ host, state, findings }: QemuLab): Promise<QemuProcess[]> {
  const processes = await new ProcessView({ host, state, config: DEFAULT_CONFIG, findings }).all();
  return processes.filter(({ args }) => args.includes(host.environment.runtimeFolder()));
}

/** No VM, folder, lock or process is left, and no orphan. */
export async function assertNothingLeft(lab: QemuLab): Promise<void> {
  assert.deepEqual(namesIn(lab.state.vms), []);
  assert.deepEqual(namesIn(lab.host.environment.runtimeFolder()), []);
  assert.deepEqual(namesIn(lab.state.locks).filter((name) => name.startsWith("vm-")), []);
  assert.deepEqual(await machinesOf(lab), []);
  assert.deepEqual(await lab.driver.vms.orphans(lab.scope.signal), []);
}

/** Opens a second driver on the lab's state, on a host of which some doors are other ones. */
export function openOn({ host, state, findings }: QemuLab, doors: Partial<Host>): Driver {
  return openQemuDriver({ host: { ...host, ...doors }, state, config: DEFAULT_CONFIG, findings });
}

/** A driver whose calls stand in line for a guest's agent until they are given up. */
export interface StuckDriver {
  driver: Driver;
  /** Resolves once a call stands in line. */
  stuck: Promise<void>;
  /** How many calls stand in line now. */
  inLine(): number;
}

/** Opens a {@link StuckDriver}; `isMeant` says at which agents' lock files it is stuck, at all when left out. */
export function driverStuckAtAgents(
  lab: QemuLab,
  { isMeant = () => true, onRemoval = () => {} }: {
    isMeant?: (path: string) => boolean;
    onRemoval?: (path: string, inLine: number) => void;
  } = {},
): StuckDriver {
  const { locks, files } = lab.host;
  const stuck = Promise.withResolvers<void>();
  let inLine = 0;
  const standInLine = async (signal: AbortSignal | undefined): Promise<never> => {
    inLine++;
    stuck.resolve();
    try {
      return await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    } finally {
      inLine--;
    }
  };
  const driver = openOn(lab, {
    locks: {
      tryTake: (path, options) => locks.tryTake(path, options),
      share: (path, signal) => locks.share(path, signal),
      take: (path, signal, options) =>
        path.includes("/agent.lock") && isMeant(path)
          ? standInLine(signal)
          : locks.take(path, signal, options),
    },
    files: {
      ...files,
      remove(path) {
        onRemoval(path, inLine);
        return files.remove(path);
      },
    },
  });
  return { driver, stuck: stuck.promise, inLine: () => inLine };
}

/** Opens a driver that finds nobody behind the first agent's socket that it looks for; `asked` counts its looks there. */
export function driverDeafToOneAgent(lab: QemuLab): { driver: Driver; asked(): number } {
  const { sockets } = lab.host;
  let deafTo: string | undefined;
  let asked = 0;
  const driver = openOn(lab, {
    sockets: {
      listenUnix: (path) => sockets.listenUnix(path),
      connectTcp: (hostname, port) => sockets.connectTcp(hostname, port),
      isPortFree: (hostname, port) => sockets.isPortFree(hostname, port),
      async connectUnix(path) {
        if (path.endsWith("/agent")) deafTo ??= path;
        if (path !== deafTo) return await sockets.connectUnix(path);
        asked++;
        return undefined;
      },
    },
  });
  return { driver, asked: () => asked };
}

/** Waits until a VM of this name is seen running; answers its process. */
export async function untilRunning({ driver, host, scope }: QemuLab, name: string): Promise<number> {
  for (;;) {
    const { vms } = await driver.vms.list(scope.signal);
    const found = vms.find((vm) => vm.name === name && vm.state === "running");
    if (found?.pid !== undefined) return found.pid;
    await host.clock.sleep(10, scope.signal);
  }
}
