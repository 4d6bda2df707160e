import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { inspectDumpFile } from "../../../src/debugger/inspect_file.ts";
import { kernelHeader64 } from "../../support/dump_writer.ts";
import { MemoryFiles } from "../../support/memory_files.ts";

/** Runs `meanwhile` instead of waiting. */
function clockThat(meanwhile: (milliseconds: number) => void): Clock {
  return {
    now: () => 0,
    monotonic: () => 0,
    sleep: (milliseconds) => Promise.resolve(meanwhile(milliseconds)),
  };
}

const neverSleeps = clockThat(() => assert.fail("waited"));
const { bytes } = kernelHeader64(3);

async function failureOf(files: MemoryFiles, clock: Clock, path = "/a.dmp"): Promise<HvError> {
  try {
    await inspectDumpFile(files, clock, path);
  } catch (thrown) {
    assert(thrown instanceof HvError);
    assert.equal(thrown.context["path"], path);
    return thrown;
  }
  assert.fail("no failure");
}

Deno.test("a quiet file is read once", async () => {
  const files = new MemoryFiles({ "/a.dmp": { bytes, modified: 5 } });
  const { inspection, facts } = await inspectDumpFile(files, neverSleeps, "/a.dmp");
  assert.equal(inspection.bugcheck_code, "0x000000d1");
  assert.equal(inspection.path, "/a.dmp");
  assert.equal(facts.modified, 5);
  assert.deepEqual(files.opened, ["/a.dmp"]);
});

Deno.test("an unfinished file gets one more try after 250 ms", async () => {
  const files = new MemoryFiles({ "/a.dmp": { bytes: kernelHeader64(3).u32(4, 0).bytes } });
  const waits: number[] = [];
  const finishing = clockThat((milliseconds) => {
    waits.push(milliseconds);
    files.entries.set("/a.dmp", { bytes, modified: 9 });
  });
  const { facts } = await inspectDumpFile(files, finishing, "/a.dmp");
  assert.equal(facts.modified, 9);
  assert.deepEqual(waits, [250]);
});

Deno.test("a file that stays unfinished is refused after the second try", async () => {
  const files = new MemoryFiles({ "/a.dmp": { bytes: kernelHeader64(3).u32(4, 0).bytes } });
  const failure = await failureOf(files, clockThat(() => {}));
  assert.equal(failure.context["reason"], "being_written");
  assert.equal(files.opened.length, 2);
});

Deno.test("a file that changes while it is read is not trusted", async () => {
  const files = new MemoryFiles({ "/a.dmp": { bytes, modified: 1 } });
  let changes = 0;
  const open = files.open.bind(files);
  files.open = (path) => {
    const file = open(path);
    if (changes++ === 0) files.entries.set("/a.dmp", { bytes, modified: 2 });
    return file;
  };
  const { facts } = await inspectDumpFile(files, clockThat(() => {}), "/a.dmp");
  assert.equal(facts.modified, 2);
  assert.equal(changes, 2);
});

Deno.test("a locked file counts as being written", async () => {
  const files = new MemoryFiles({ "/a.dmp": { bytes } });
  files.open = () => {
    throw new HvError("hv.io", 'Cannot open "/a.dmp": in use by another process (os error 32)');
  };
  assert.equal((await failureOf(files, clockThat(() => {}))).context["reason"], "being_written");
});

Deno.test("what is no file is never opened", async () => {
  const files = new MemoryFiles({ "/my dumps/x": { bytes }, "/pipe": { other: true } });
  const { context, hint } = await failureOf(files, neverSleeps, "/my dumps");
  assert.equal(context["reason"], "not_a_dump");
  assert.match(hint ?? "", /^List the dumps in it with: hvlab dump find (['"])\/my dumps\1$/);
  assert.equal((await failureOf(files, neverSleeps, "/pipe")).context["reason"], "not_a_dump");
  assert.equal((await failureOf(files, neverSleeps, "/missing")).code, "hv.not_found");
  assert.deepEqual(files.opened, []);
});

Deno.test("a failing disk is an I/O error with its reason", async () => {
  const files = new MemoryFiles({ "/a.dmp": { failure: new HvError("hv.io", "Cannot read") } });
  const failure = await failureOf(files, neverSleeps);
  assert.equal(failure.code, "hv.io");
  assert.equal(failure.context["reason"], "io_error");
});
