import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import {
  type PassingScope,
  tidyPassing,
  withPassingNames,
} from "../../../../src/flows/crashes/passing_notes.ts";
import { runInGuest } from "../../../../src/flows/guest/run_in_guest.ts";
import { runScriptInGuest } from "../../../../src/flows/guest/run_script.ts";
import type { GuestChannel } from "../../../../src/guest/channel.ts";
import { POSIX_FILES } from "../../../../src/guest/posix/folders.ts";
import type { Locks } from "../../../../src/host/locks.ts";
import { failureOf } from "../../../support/failures.ts";
import { withMandatoryLocks } from "../../../support/mandatory_locks.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";
import { plainGuestFolder } from "../../../support/plain_guest_folder.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

const PLACES = ["/a", "/b"];

interface Scene extends AsyncDisposable {
  scope: PassingScope & { host: ScriptedHost };
  /** Paths without their tokens, as they were removed in the guest. */
  removed: string[];
  notes(): string[];
  tidy(answer?: () => Promise<void>, signal?: AbortSignal): Promise<string | undefined>;
}

/** A guest in which a copy was cut off in each place; `answer` is what it says to each removal. */
async function openScene(): Promise<Scene> {
  const host = await ScriptedHost.open();
  const memory = new MemoryDriver();
  const id = await memory.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  const driver = Object.assign(memory, { guestFolder: () => plainGuestFolder(`${host.root}/guest`) });
  const scope = { host, driver, vm: await memory.vms.get(id) };
  for (const place of PLACES) {
    const cutOff = () => Promise.reject(new HvError("hv.outcome_unknown", "gone"));
    const copying = () => withPassingNames(scope, { guest: (token) => [`${place}.hvlab-${token}`] }, cutOff);
    await failureOf("hv.outcome_unknown", copying);
  }
  const removed: string[] = [];
  return {
    scope,
    removed,
    notes: () => [...Deno.readDirSync(`${host.root}/guest/passing`)].map(({ name }) => name),
    tidy(answer = () => Promise.resolve(), signal = new AbortController().signal) {
      const remove = async (_: GuestChannel, path: string): Promise<void> => {
        await answer();
        removed.push(path.replace(/\.hvlab-[0-9a-f]{8}$/, ""));
      };
      const channel = Object.assign(new MemoryGuest(), { folders: { ...POSIX_FILES, remove } });
      return tidyPassing(scope, channel, signal);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

Deno.test("what calls left is removed, and nothing is said", async () => {
  await using scene = await openScene();
  assert.equal(scene.notes().length, 2);
  assert.equal(await scene.tidy(), undefined);
  assert.deepEqual([scene.removed.sort(), scene.notes()], [PLACES, []]);
});

Deno.test("what cannot be removed stays noted and is told, and does not keep the rest", async () => {
  await using scene = await openScene();
  let asked = 0;
  const told = await scene.tidy(() =>
    ++asked === 1 ? Promise.reject(new HvError("hv.io", "It is in use")) : Promise.resolve()
  );
  assert.equal(told, 'What an earlier call left in "web" is not removed yet: It is in use');
  assert.deepEqual([scene.removed.length, scene.notes().length], [1, 1]);
  assert.equal(await scene.tidy(), undefined);
  assert.deepEqual([scene.removed.sort(), scene.notes()], [PLACES, []]);
});

Deno.test("a guest that does not answer in time is told, and a call that ends meanwhile ends", async () => {
  await using scene = await openScene();
  const late = () => Promise.reject(new DOMException("Signal timed out.", "TimeoutError"));
  assert.match(await scene.tidy(late) ?? "", /is not removed yet: the guest did not answer in time$/);
  const over = new HvError("hv.timeout", "The time limit of 1 s has passed");
  const failing = () => scene.tidy(() => Promise.reject(over), AbortSignal.abort(over));
  assert.equal(await failureOf("hv.timeout", failing), over);
  assert.equal(scene.notes().length, 2);
});

Deno.test("a guest in which nobody answers is asked once, and the failure is the call's own", async () => {
  await using scene = await openScene();
  for (const code of ["hv.guest_not_ready", "hv.guest_crashed"] as const) {
    let asked = 0;
    const silent = (): Promise<void> => {
      asked++;
      return Promise.reject(new HvError(code, "Nobody answers"));
    };
    await failureOf(code, () => scene.tidy(silent));
    assert.deepEqual([asked, scene.notes().length], [1, 2]);
  }
});

Deno.test("a guest that goes away while it is tidied up is asked once, and that is told", async () => {
  await using scene = await openScene();
  let asked = 0;
  const told = await scene.tidy(() => {
    asked++;
    return Promise.reject(new HvError("hv.outcome_unknown", "Its answer is lost"));
  });
  assert.match(told ?? "", /is not removed yet: Its answer is lost$/);
  assert.deepEqual([asked, scene.notes().length], [1, 2]);
});

Deno.test("a script whose file could not be removed stays noted, and its result counts", async () => {
  await using scene = await openScene();
  await scene.tidy();
  const { host } = scene.scope;
  const options = { passing: scene.scope, signal: new AbortController().signal, clock: host.clock };
  const script = { bytes: new TextEncoder().encode("#!/bin/sh\n"), args: [] };
  const exec = () => Promise.resolve({ exit_code: 0, signal: null });
  const refuse = () => Promise.reject(new HvError("hv.not_found", "There is no such program"));
  const removeFile = () => Promise.reject(new HvError("hv.io", "It is in use"));
  const guest = Object.assign(new MemoryGuest(), { exec, removeFile });
  assert.equal((await runScriptInGuest(guest, script, options)).exit_code, 0);
  assert.equal(scene.notes().length, 1);
  await failureOf(
    "hv.not_found",
    () => runScriptInGuest(Object.assign(guest, { exec: refuse }), script, options),
  );
  assert.equal(scene.notes().length, 2);
  await runScriptInGuest(Object.assign(new MemoryGuest(), { exec }), script, options);
  assert.equal(scene.notes().length, 2);
});

Deno.test("a copy with a VM that has been removed begins nothing and makes nothing", async () => {
  await using scene = await openScene();
  const { host, driver, vm } = scene.scope;
  const path = `${host.root}/vms/${vm.id}/guest`;
  const folder = { path, make: () => host.files.makeFolder(path, { parents: false }) };
  const scope = { host, driver: Object.assign(driver, { guestFolder: () => folder }), vm };
  let begun = false;
  await failureOf("hv.not_found", () => withPassingNames(scope, {}, () => Promise.resolve(begun = true)));
  assert.deepEqual([begun, await host.files.stat(`${host.root}/vms`)], [false, undefined]);
});

Deno.test("nor does one whose VM is removed just then", async () => {
  await using scene = await openScene();
  const { host, driver, vm } = scene.scope;
  const locks: Locks = {
    tryTake: (path, options) => host.locks.tryTake(path, options),
    async take(path, signal, options) {
      await Deno.remove(`${host.root}/guest`, { recursive: true });
      return await host.locks.take(path, signal, options);
    },
    share: (path, signal) => host.locks.share(path, signal),
  };
  const scope = { host: { ...host, locks }, driver, vm };
  await failureOf("hv.not_found", () => withPassingNames(scope, {}, () => assert.fail("it was begun")));
  assert.equal(await host.files.stat(`${host.root}/guest`), undefined);
});

Deno.test("a note that is looked at before its maker has locked it is locked while the work lasts", async () => {
  await using scene = await openScene();
  const { host, driver, vm } = scene.scope;
  const locks: Locks = {
    // Who tidies up was quicker.
    tryTake: () => Promise.resolve(undefined),
    take: (path, signal, options) => host.locks.take(path, signal, options),
    share: (path, signal) => host.locks.share(path, signal),
  };
  const scope = { host: { ...host, locks }, driver, vm };
  await withPassingNames(scope, { guest: () => ["/c"] }, async (token) => {
    const path = `${host.root}/guest/passing/${token}`;
    assert.deepEqual(JSON.parse(await Deno.readTextFile(path)), { guest: ["/c"], host: [] });
    assert.equal(await host.locks.tryTake(path), undefined);
  });
});

Deno.test("where nobody else may use a locked file, notes are written and followed all the same", async () => {
  await using scene = await openScene();
  assert.equal(await scene.tidy(), undefined);
  const { scope } = scene;
  const mandatory = { ...scope, host: withMandatoryLocks(scope.host) };
  const seen = await withPassingNames(
    mandatory,
    { guest: (token) => [`/a.hvlab-${token}`] },
    () => Promise.resolve(scene.notes().length),
  );
  assert.deepEqual([seen, scene.notes()], [1, []]);
});

Deno.test("a script and what a program reads are noted where they pass through the guest", async () => {
  await using scene = await openScene();
  await scene.tidy();
  const cutOff = () => Promise.reject(new HvError("hv.outcome_unknown", "gone"));
  const guest = Object.assign(new MemoryGuest(), {
    writeFile: cutOff,
    exec: cutOff,
    inputPlaces: (token: string) => [`/in.hvlab-${token}`],
  });
  const { host } = scene.scope;
  const options = { passing: scene.scope, signal: new AbortController().signal, clock: host.clock };
  const script = { bytes: new TextEncoder().encode("#!/bin/sh\n"), args: [] };
  await failureOf("hv.outcome_unknown", () => runScriptInGuest(guest, script, options));
  const fed = { argv: ["cat"], stdin: () => Promise.resolve(null) };
  await failureOf("hv.outcome_unknown", () => runInGuest(guest, fed, options));
  await failureOf("hv.outcome_unknown", () => runInGuest(guest, { argv: ["cat"] }, options));
  assert.equal(scene.notes().length, 2);
  const removed: string[] = [];
  const remove = (_: GuestChannel, path: string): Promise<void> => Promise.resolve(void removed.push(path));
  const channel = Object.assign(new MemoryGuest(), { folders: { ...POSIX_FILES, remove } });
  await tidyPassing(scene.scope, channel, options.signal);
  assert.deepEqual(removed.map((path) => path.replaceAll(/hvlab-[0-9a-f]{8}/g, "*")).sort(), [
    "/in.*",
    "/tmp/script.*.sh",
    "/tmp/script.*.sh.*",
  ]);
});
