/** Cores that are made smaller and tell the same. */

import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import type { CoreMemory } from "../../../../src/contract/crash_policy.ts";
import { listDumpTasks } from "../../../../src/debugger/linux/list_tasks.ts";
import { readDumpLog } from "../../../../src/debugger/linux/read_log.ts";
import { reduceCore, type ReductionHost } from "../../../../src/debugger/linux/reduce_core.ts";
import { inspectDumpFile } from "../../../../src/debugger/inspect_file.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { denoFiles } from "../../../../src/host/files.ts";
import { readArmCore } from "../../../support/arm64_samples.ts";
import { elfCoreOf, notesOf } from "../../../support/linux_core_writer.ts";
import { LinuxMachine } from "../../../support/linux_machine.ts";
import { linuxSamples, readLinuxSample } from "../../../support/linux_samples.ts";
import { StepClock } from "../../../support/step_clock.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const HOST: ReductionHost = openDenoHost();
const SECRET = new TextEncoder().encode("a page that no reader asks for");
const SECRET_AT = 0xFFFF_8880_1000_0000n;
const SECRET_PAGES = 64;

/** A machine with memory that is of no use to anybody. */
function machine(): LinuxMachine {
  return new LinuxMachine({
    damage(made) {
      for (let page = 0n; page < SECRET_PAGES; page++) made.put(SECRET_AT + 4096n * page, SECRET);
    },
  });
}

async function reduce(path: string, host: ReductionHost = HOST, signal?: AbortSignal): Promise<CoreMemory> {
  return await reduceCore(host, path, signal ?? new AbortController().signal);
}

/** All that the tools tell of a core. */
async function answersOf(path: string): Promise<object> {
  const clock = new StepClock();
  const shape = { path, full: true };
  const options = { path, stacks: true, limit: 1000 };
  return {
    triage: await triageDumpFile(denoFiles, clock, shape),
    brief: await triageDumpFile(denoFiles, clock, { path, full: false }),
    log: await readDumpLog(denoFiles, clock, { path }),
    tasks: await listDumpTasks(denoFiles, clock, options),
  };
}

async function inspect(path: string): ReturnType<typeof inspectDumpFile> {
  return await inspectDumpFile(denoFiles, new StepClock(), path);
}

async function filesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

function has(bytes: Uint8Array, wanted: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(bytes).includes(new TextDecoder("latin1").decode(wanted));
}

Deno.test("a reduced core lacks what nobody asks for, has the same notes, says what it is and tells the same", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/memory.elf`;
    const whole = elfCoreOf(machine());
    await Deno.writeFile(path, whole);
    const before = await answersOf(path);
    const memory = (await inspect(path)).inspection.memory_bytes;

    const kept = await reduce(path);
    const bytes = await Deno.readFile(path);
    assert.ok(has(whole, SECRET) && !has(bytes, SECRET));
    assert.ok(has(bytes, notesOf(machine())));
    assert.deepEqual(await answersOf(path), before);
    assert.deepEqual([kept.reduced, kept.of_bytes, kept.reason], [true, memory, undefined]);
    assert.ok(kept.kept_bytes <= Number(memory) - SECRET_PAGES * 4096);
    const { inspection } = await inspect(path);
    assert.deepEqual([inspection.memory_bytes, inspection.reduced_from_bytes], [kept.kept_bytes, memory]);
    assert.deepEqual([inspection.warnings, inspection.expected_size_bytes], [[], bytes.length]);
    assert.deepEqual(await filesIn(folder), ["memory.elf"]);

    assert.deepEqual(await reduce(path), kept, "a second time changes nothing");
    assert.deepEqual(await Deno.readFile(path), bytes);
  }));

Deno.test("a core stays whole when the smaller one tells anything else, and when it cannot be written", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/memory.elf`;
    const whole = elfCoreOf(machine());
    await Deno.writeFile(path, whole);
    let writes = 0;
    const spoiling: ReductionHost = {
      ...HOST,
      files: {
        ...denoFiles,
        async create(name, options) {
          const writer = await denoFiles.create(name, options);
          return {
            ...writer,
            write: (bytes) => writer.write(++writes === 2 ? new Uint8Array(bytes.length) : bytes),
          };
        },
      },
    };
    const spoiled = await reduce(path, spoiling);
    assert.deepEqual([spoiled.reduced, spoiled.kept_bytes], [false, spoiled.of_bytes]);
    assert.equal(typeof spoiled.reason, "string");
    const full: ReductionHost = {
      ...HOST,
      files: { ...denoFiles, create: () => Promise.reject(new HvError("hv.io", "the disk is full")) },
    };
    assert.equal((await reduce(path, full)).reason, "the disk is full");
    assert.deepEqual(await Deno.readFile(path), whole);
    assert.deepEqual(await filesIn(folder), ["memory.elf"]);
  }));

Deno.test("a call that ends on the way leaves the whole core and nothing beside it", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/memory.elf`;
    const whole = elfCoreOf(machine());
    await Deno.writeFile(path, whole);
    const ending = new AbortController();
    const slow: ReductionHost = {
      ...HOST,
      files: {
        ...denoFiles,
        create(name, options) {
          ending.abort(new Error("enough"));
          return denoFiles.create(name, options);
        },
      },
    };
    await assert.rejects(reduce(path, slow, ending.signal), /enough/);
    assert.deepEqual(await Deno.readFile(path), whole);
    assert.deepEqual(await filesIn(folder), ["memory.elf"]);
  }));

Deno.test("a machine that is no Linux stays whole, with the reason", () =>
  withTemporaryFolder(async (folder) => {
    const path = `${folder}/memory.elf`;
    const bytes = elfCoreOf(machine(), false);
    for (let at = bytes.indexOf(0x56); at >= 0; at = bytes.indexOf(0x56, at + 1)) {
      if (new TextDecoder("latin1").decode(bytes.subarray(at, at + 10)) === "VMCOREINFO") bytes[at] = 0;
    }
    await Deno.writeFile(path, bytes);
    const left = await reduce(path);
    assert.equal(left.reduced, false);
    assert.match(left.reason ?? "", /VMCOREINFO/);
  }));

/** Of each form of kernel one, and one without the note. */
const SAMPLES = /^(?:oops-null-5\.10-scan|init-killed-6\.1-no-note|gpf-uaf-6\.12|panic-sysrq-7\.2)\.elf\.gz$/;

async function assertTellsTheSame(core: Uint8Array): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const path = `${folder}/memory.elf`;
    await Deno.writeFile(path, core);
    const before = await answersOf(path);
    assert.equal((await reduce(path)).reduced, true);
    assert.deepEqual(await answersOf(path), before);
  });
}

for (const { file } of linuxSamples("cores").filter(({ file }) => SAMPLES.test(file))) {
  Deno.test(
    `${file} tells the same when it is reduced`,
    async () => await assertTellsTheSame(await readLinuxSample(file)),
  );
}

Deno.test(
  "the core of an ARM64 guest tells the same when it is reduced",
  async () => await assertTellsTheSame(await readArmCore("oops-6.12")),
);
