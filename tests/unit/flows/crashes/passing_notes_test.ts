import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { tidyPassing, withPassingNames } from "../../../../src/flows/crashes/passing_notes.ts";
import type { GuestChannel } from "../../../../src/guest/channel.ts";
import { POSIX_FILES } from "../../../../src/guest/posix/folders.ts";
import { failureOf } from "../../../support/failures.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

const PLACES = ["/a", "/b"];

interface Scene extends AsyncDisposable {
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
  const driver = Object.assign(memory, { guestFolder: () => `${host.root}/guest` });
  const scope = { host, driver, vm: await memory.vms.get(id) };
  for (const place of PLACES) {
    const cutOff = () => Promise.reject(new HvError("hv.outcome_unknown", "gone"));
    const copying = () => withPassingNames(scope, { guest: (token) => [`${place}.hvlab-${token}`] }, cutOff);
    await failureOf("hv.outcome_unknown", copying);
  }
  const removed: string[] = [];
  return {
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
  assert.equal(told, 'What an earlier copy left in "web" is not removed yet: It is in use');
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
