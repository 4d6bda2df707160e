/** `hvlab keeper`: the one background process of a state folder, from its lock to its end. */

import { HvError, toHvError } from "../base/errors.ts";
import { nameOf } from "../base/paths.ts";
import { VERSION } from "../base/version.ts";
import type { Config } from "../config/config.ts";
import type { BackgroundWork } from "../drivers/background_abilities.ts";
import type { CrashKeeping, GuestTelling } from "../drivers/crash_abilities.ts";
import type { Driver } from "../drivers/driver.ts";
import { openDriver } from "../drivers/index.ts";
import type { Host } from "../host/host.ts";
import type { Lock } from "../host/locks.ts";
import { workIn } from "../host/runtime.ts";
import { watchFolder } from "../host/watch.ts";
import { becomeKeeper, forgetKeeperWish, readKeeperWish, wantKeeper } from "../state/keeper_mark.ts";
import type { StateFolder } from "../state/layout.ts";
import { openStore, openStoreReadOnly } from "../state/store.ts";
import { Alarm } from "./alarm.ts";
import { KeeperJournal } from "./journal.ts";
import { KeeperLog } from "./log.ts";
import { keepWhileNeeded } from "./loop.ts";

/** What a keeper is started with. */
export interface KeeperOptions {
  host: Host;
  config: Config;
  state: StateFolder;
  driverName?: string;
  /** Opens the driver; tests put their own in its place. */
  openDriver?: typeof openDriver;
  /** Ends the keeper as a signal does; for tests. */
  signal?: AbortSignal;
}

/** As {@link runKeeper}, for a process that is nothing else: it leaves the folder that it was started in. */
export async function runKeeperProcess(options: KeeperOptions): Promise<number> {
  workIn("/");
  return await runKeeper(options);
}

/**
 * Keeps the state folder until nothing needs it, and answers the exit code. Answers at once where another keeper lives,
 * where the driver needs none, and where the folder has no place for one.
 */
export async function runKeeper(options: KeeperOptions): Promise<number> {
  const { host, state } = options;
  if (await host.files.stat(state.keeper) === undefined) return 0;
  const ending = new AbortController();
  const end = (): void => ending.abort(new HvError("hv.cancelled", "The keeper was told to end"));
  const stopListening = host.terminal.onInterrupt(end);
  options.signal?.addEventListener("abort", end, { once: true });
  const log = new KeeperLog(host.clock, state.keeperLog);
  try {
    for (;;) {
      const lock = await becomeKeeper(host, state, {
        pid: host.machine.processId(),
        since: new Date(host.clock.now()).toISOString(),
        version: VERSION,
      });
      if (lock === undefined) return 0;
      const isNeededAgain = await keepUnderLock(options, lock, log, ending.signal);
      if (!isNeededAgain) return 0;
    }
  } catch (error) {
    await log.write(ending.signal.aborted ? "ended by a signal" : `failed: ${toHvError(error).message}`);
    return ending.signal.aborted ? 0 : toHvError(error).exitCode;
  } finally {
    stopListening();
    options.signal?.removeEventListener("abort", end);
    // Warnings are not waited for; none may come into a folder that is being removed by then.
    await log.settled;
  }
}

/** Answers whether something came up while the lock was given back. */
async function keepUnderLock(
  options: KeeperOptions,
  lock: Lock,
  log: KeeperLog,
  signal: AbortSignal,
): Promise<boolean> {
  const { host, state } = options;
  using _lock = lock;
  const driver = await openDriverOf(options);
  const alarm = new Alarm();
  const warn = (text: string): void => void log.write(text);
  const journal = new KeeperJournal(doorOf(host, state), warn);
  const changed = (): void => alarm.ring();
  const keep: CrashKeeping = async (crash, limited) => {
    const { keepLastingCrash } = await import("../flows/crashes/lasting_crash.ts");
    return await keepLastingCrash({ host, driver, state }, crash, {
      signal: limited,
      warn,
      progress: () => {},
    });
  };
  const tell: GuestTelling = async (id, causes, limited) => {
    const { tellGuest } = await import("../flows/crashes/guest_panic.ts");
    return await tellGuest(driver, id, causes, options.config.policy.channels, limited);
  };
  const work = driver.background?.(journal, changed, keep, tell);
  try {
    if (work === undefined) {
      await forgetKeeperWish(host, state);
      return false;
    }
    await log.write(`begins as process ${host.machine.processId()}, hvlab ${VERSION}`);
    await using _watch = watchFolder(
      state.keeper,
      (path) => nameOf(path) === nameOf(state.keeperWish),
      changed,
    );
    await keepWhileNeeded({
      clock: host.clock,
      work,
      journal,
      scope: { signal, warn, progress: () => {} },
      readNote: () => readKeeperWish(host, state),
      alarm,
    });
    return await giveUp(options, lock, log, work);
  } finally {
    await work?.close();
    await journal.flush();
    await driver.close();
  }
}

/**
 * Gives the lock back, and looks once more: whoever started a machine before that found a keeper alive and relies on it.
 */
async function giveUp(
  { host, state }: KeeperOptions,
  lock: Lock,
  log: KeeperLog,
  work: BackgroundWork,
): Promise<boolean> {
  await log.write("ends: no machine runs, no lease is open, no pool is kept");
  await forgetKeeperWish(host, state);
  lock.release();
  if (!await work.isNeeded()) return false;
  await wantKeeper(host, state);
  return true;
}

function openDriverOf(
  { host, config, state, driverName, openDriver: open = openDriver }: KeeperOptions,
): Promise<Driver> {
  return open(driverName, {
    host,
    config,
    state,
    findings: {
      async get(key) {
        using store = await openStoreReadOnly(host, state);
        return await store?.findings.get(key);
      },
      async put(key, value) {
        using store = await openStore(host, state);
        await store.findings.put(key, value);
      },
    },
  });
}

function doorOf(host: Host, state: StateFolder): ConstructorParameters<typeof KeeperJournal>[0] {
  return {
    async open() {
      if (await host.files.stat(state.keeper) !== undefined) return await openStore(host, state);
      // Opening would make a state folder anew that somebody has removed.
      throw new HvError("hv.io", `The state folder "${state.root}" has gone`, {
        context: { path: state.root },
      });
    },
    openReadOnly: () => openStoreReadOnly(host, state),
  };
}
