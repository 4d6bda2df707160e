/** The QEMU driver on this very host, with a state folder and a runtime folder of the test's own. */

import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { CallScope } from "../../src/drivers/call_scope.ts";
import type { Driver, SandboxSpec, VmSpec } from "../../src/drivers/driver.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { ProcessView } from "../../src/drivers/qemu/identity.ts";
import { RuntimeFolder } from "../../src/drivers/qemu/runtime_folder.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { MemoryFindings } from "./qemu_context.ts";
import { canRunGuests, findTinyImage } from "./tiny_image.ts";

export interface QemuLab {
  driver: Driver;
  host: Host;
  state: StateFolder;
  findings: MemoryFindings;
  scope: CallScope;
  /** A second driver on the same state folder, as another process would open it. */
  another(): Driver;
  vm(changes?: Partial<VmSpec>): VmSpec;
  sandbox(changes?: Partial<SandboxSpec>): SandboxSpec;
  runtime(id: string): RuntimeFolder;
}

/** Long enough for a busy machine; no test is decided by it. */
const LIMIT_MS = 600_000;
/** Names that have broken other programs stand in every path of these tests. */
const ODD_NAME = "a,b =c%20d 'é";

/**
 * One test with real machines, ignored where there is no QEMU, no tiny image, or not what else it needs.
 * Afterwards no QEMU of its state
 * folder may be left, whatever the test did.
 */
export function qemuTest(
  promise: string,
  work: (lab: QemuLab) => Promise<void>,
  hasNeeds: boolean = true,
): void {
  Deno.test({
    name: `qemu: ${promise}`,
    ignore: !hasNeeds || !canRunGuests(),
    async fn() {
      const root = await Deno.makeTempDir({ prefix: "hv-" });
      try {
        await inside(root, work);
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  });
}

async function inside(root: string, work: (lab: QemuLab) => Promise<void>): Promise<void> {
  const real = openDenoHost();
  const { environment } = real;
  const host: Host = {
    ...real,
    environment: {
      get: (name) => environment.get(name),
      configFolder: () => environment.configFolder(),
      stateFolder: () => environment.stateFolder(),
      runtimeFolder: () => `${root}/run`,
    },
  };
  const state = new StateFolder(`${root}/${ODD_NAME}`);
  const findings = new MemoryFindings();
  const open = (): Driver => openQemuDriver({ host, state, config: DEFAULT_CONFIG, findings });
  const driver = open();
  const others: Driver[] = [];
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error("the test took too long")), LIMIT_MS);
  const scope: CallScope = { signal: limit.signal, progress: () => {} };
  const source = findTinyImage();
  assert.ok(source !== undefined);
  try {
    await driver.images?.import(source, scope);
    const spec = { name: "web", image: "tiny", memory_mb: 128, cpus: 1 } satisfies VmSpec;
    await work({
      driver,
      host,
      state,
      findings,
      scope,
      another() {
        const other = open();
        others.push(other);
        return other;
      },
      vm: (changes) => ({ ...spec, ...changes }),
      sandbox: (changes) => ({ ...spec, name: "box", ttl_s: 600, tiedToUs: false, ...changes }),
      runtime: (id) => RuntimeFolder.of(host, id),
    });
  } finally {
    clearTimeout(timer);
    for (const each of [driver, ...others]) await each.close();
    const context = { host, state, config: DEFAULT_CONFIG, findings };
    const left = (await new ProcessView(context).all()).filter(({ args }) => args.includes(`${root}/run`));
    for (const { pid } of left) await host.processes.kill(pid, "KILL");
    await Promise.all(left.map(({ pid }) => untilGone(pid)));
  }
}

/** A process that this one has started counts as its own until it has been waited for. */
async function untilGone(pid: number): Promise<void> {
  const isThere = (): Promise<boolean> => Deno.lstat(`/proc/${pid}`).then(() => true, () => false);
  while (await isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
}
