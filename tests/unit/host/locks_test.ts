import assert from "node:assert/strict";
import { systemClock } from "../../../src/host/clock.ts";
import { FileLocks } from "../../../src/host/locks.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const locks = new FileLocks(systemClock);

Deno.test("a lock is held by one caller, and shared among those who share it", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/one.lock`;
    {
      using held = await locks.tryTake(path);
      assert.deepEqual([held !== undefined, await locks.tryTake(path)], [true, undefined]);
    }
    using _one = await locks.share(path);
    using _other = await locks.share(path);
    assert.equal(await locks.tryTake(path), undefined);
  }));

Deno.test(
  "a file that its holder removed before it was locked is no lock",
  () =>
    withTemporaryFolder(async (folder) => {
      const path = `${folder}/gone.lock`;
      const open = Deno.open;
      try {
        Deno.open = async (...args) => {
          Deno.open = open;
          const file = await open(...args);
          await Deno.remove(path);
          return file;
        };
        using held = await locks.tryTake(path);
        assert.ok(held !== undefined);
        assert.equal(await locks.tryTake(path), undefined);
      } finally {
        Deno.open = open;
      }
    }),
);

Deno.test("two who only look at a lock see no holder, and both see one who holds it", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/one.lock`;
    const look = (): Promise<Disposable | undefined> => locks.tryTake(path, { onlyLooks: true });
    {
      using one = await look();
      using other = await look();
      assert.deepEqual([one === undefined, other === undefined], [false, false]);
    }
    using held = await locks.tryTake(path);
    assert.ok(held);
    assert.deepEqual([await look(), await look()], [undefined, undefined]);
  }));

Deno.test("what a lock's file says is read and replaced through the lock", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/one.lock`;
    {
      using lock = await locks.take(path);
      assert.equal(lock.readText(), "");
      lock.writeText("a long text, with é");
      lock.writeText("short");
      assert.equal(lock.readText(), "short");
    }
    using lock = await locks.take(path);
    assert.equal(lock.readText(), "short");
  }));
