import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { folderOf, joinPath } from "../../../../src/base/paths.ts";
import type { KeepingPolicy } from "../../../../src/contract/crash_policy.ts";
import type { CallScope } from "../../../../src/drivers/call_scope.ts";
import { answerCrash } from "../../../../src/flows/crashes/crash_policy.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const CRASH = new HvError("hv.guest_crashed", "The guest has crashed", { hint: "None" });
const SCOPE: CallScope = { signal: new AbortController().signal, progress: () => {} };

/** Writes `core` as every guest's memory, unless `before` says otherwise. */
class DumpingDriver extends MemoryDriver {
  readonly dumps;

  constructor(before: (file: string) => void = () => {}) {
    super({ features: ["vms", "dumps"] });
    this.dumps = {
      dump: (_id: string, file: string) => {
        before(file);
        Deno.writeTextFileSync(file, "core", { createNew: true });
        return Promise.resolve({ format: "elf" as const, size_bytes: 4, allocated_bytes: null });
      },
    };
  }
}

async function answer(driver: DumpingDriver, root: string): Promise<HvError> {
  const id = await driver.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  const policy: KeepingPolicy = "collect";
  const places = { folder: `${root}/cr`, spare: `${root}/crashes/op-1` };
  return (await answerCrash(CRASH, { host: openDenoHost(), driver, id, policy, ...places }, SCOPE)).error;
}

function readCore({ context }: HvError, folder: string): string {
  assert.partialDeepStrictEqual(context.crash, { folder, core: joinPath(folder, "memory.elf") });
  return Deno.readTextFileSync(`${folder}/memory.elf`);
}

Deno.test("a crash is kept in the folder that was asked for", async () => {
  await withTemporaryFolder(async (root) => {
    const error = await answer(new DumpingDriver(), root);
    assert.equal(readCore(error, `${root}/cr`), "core");
    assert.match(error.hint ?? "", /^Its core is kept: hvlab dump triage (['"]).*memory\.elf\1$/);
    assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name), ["cr"]);
  });
});

Deno.test("a folder that was taken meanwhile costs nothing: the crash is kept elsewhere, and that is said", async () => {
  await withTemporaryFolder(async (root) => {
    Deno.mkdirSync(`${root}/cr`);
    Deno.writeTextFileSync(`${root}/cr/console.log`, "another");
    const error = await answer(new DumpingDriver(), root);
    assert.equal(readCore(error, `${root}/crashes/op-1`), "core");
    assert.match(
      error.hint ?? "",
      /it holds "console\.log" already\. Its core is kept: .*op-1[\\/]memory\.elf/,
    );
    assert.equal(Deno.readTextFileSync(`${root}/cr/console.log`), "another");
  });
});

Deno.test("a core that another call writes there at the same time stays, and ours is kept elsewhere", async () => {
  await withTemporaryFolder(async (root) => {
    const rival = new DumpingDriver((file) => {
      if (folderOf(file) === `${root}/cr`) Deno.writeTextFileSync(file, "another");
    });
    const error = await answer(rival, root);
    assert.equal(readCore(error, `${root}/crashes/op-1`), "core");
    assert.equal(Deno.readTextFileSync(`${root}/cr/memory.elf`), "another");
  });
});
