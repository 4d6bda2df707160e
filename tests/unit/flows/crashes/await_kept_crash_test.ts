import assert from "node:assert/strict";
import type { KeptCrash } from "../../../../src/contract/crash_policy.ts";
import type { Vm } from "../../../../src/contract/vm.ts";
import type { CrashAbilities } from "../../../../src/drivers/crash_abilities.ts";
import type { Driver } from "../../../../src/drivers/driver.ts";
import { awaitKeptCrash } from "../../../../src/flows/crashes/await_kept_crash.ts";
import { HandClock } from "../../../support/hand_clock.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";

const KEPT: KeptCrash = { folder: "/crashes/vm-a", core: "/crashes/vm-a/memory.elf" };

/** A clock on which time passes while somebody sleeps. */
class PassingClock extends HandClock {
  override sleep(milliseconds: number): Promise<void> {
    this.advance(milliseconds);
    return Promise.resolve();
  }
}

type Looks = Awaited<ReturnType<CrashAbilities["kept"]>>[];

/** Waits for a crash that looks in turn as listed, the last look again and again. */
async function wait(
  looks: Looks,
  { policy = true, gap }: { policy?: boolean; gap?: string } = {},
): Promise<{ kept: KeptCrash | undefined; warnings: string[] }> {
  const memory = new MemoryDriver();
  const id = await memory.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  const { signal } = new AbortController();
  const seen = await memory.vms.get(id);
  const vm: Vm = policy ? { ...seen, on_crash: "triage" } : seen;
  let look = 0;
  const driver: Pick<Driver, "crashes" | "events"> = {
    crashes: {
      configure: () => Promise.reject(new Error("not asked for")),
      finishConsole: () => Promise.reject(new Error("not asked for")),
      told: () => Promise.reject(new Error("not asked for")),
      kept: () => Promise.resolve(looks[Math.min(look++, looks.length - 1)]),
    },
    events: { history: () => Promise.resolve([]), gap: () => Promise.resolve(gap) },
  };
  const warnings: string[] = [];
  const host = { clock: new PassingClock() };
  const scope = {
    driver,
    host,
    signal,
    progress: () => {},
    warn: (text: string) => void warnings.push(text),
  };
  return { kept: await awaitKeptCrash(scope, vm), warnings };
}

Deno.test("what is kept is waited for, from before it is begun to its end", async () => {
  const looks: Looks = [undefined, { state: "open" }, { state: "open" }, { state: "kept", kept: KEPT }];
  assert.deepEqual(await wait(looks), { kept: KEPT, warnings: [] });
});

Deno.test("without a policy nothing is waited for", async () => {
  assert.deepEqual(await wait([{ state: "kept", kept: KEPT }], { policy: false }), {
    kept: undefined,
    warnings: [],
  });
});

Deno.test("where nobody keeps anything, that is said in place of waiting", async () => {
  assert.deepEqual(await wait([{ state: "open" }], { gap: "No keeper runs" }), {
    kept: undefined,
    warnings: ['The crash of "web" is not being kept: No keeper runs'],
  });
  assert.deepEqual(await wait([undefined]), {
    kept: undefined,
    warnings: ['The crash of "web" is not being kept'],
  });
});
