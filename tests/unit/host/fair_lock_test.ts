import assert from "node:assert/strict";
import { joinPath } from "../../../src/base/paths.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { FairLock } from "../../../src/host/fair_lock.ts";
import { FileLocks } from "../../../src/host/locks.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function lockIn(folder: string): FairLock {
  return new FairLock(new FileLocks(systemClock), joinPath(folder, "agent.lock"));
}

Deno.test("a holder learns that somebody waits, and who waits is next", async () => {
  await withTemporaryFolder(async (folder) => {
    const [ours, theirs] = [lockIn(folder), lockIn(folder)];
    const hold = await ours.take();
    assert.equal(await hold.isWanted(), false);
    const order: string[] = [];
    const second = theirs.take().then((taken) => {
      order.push("theirs");
      return taken;
    });
    while (!await hold.isWanted()) await systemClock.sleep(1);
    hold.release();
    const again = ours.take().then((taken) => {
      order.push("ours");
      return taken;
    });
    (await second).release();
    (await again).release();
    assert.deepEqual(order, ["theirs", "ours"]);
  });
});

Deno.test("giving up in the queue leaves the queue free", async () => {
  await withTemporaryFolder(async (folder) => {
    using hold = await lockIn(folder).take();
    const impatient = new AbortController();
    const waiting = lockIn(folder).take(impatient.signal);
    while (!await hold.isWanted()) await systemClock.sleep(1);
    impatient.abort(new Error("enough"));
    await assert.rejects(waiting, { message: "enough" });
    assert.equal(await hold.isWanted(), false);
  });
});
