/** Cores of real guests: every value that another reader of the same core or the kernel itself confirmed. */

import assert from "node:assert/strict";
import { type JsonObject, type JsonValue } from "../../../../src/base/json.ts";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { openLinuxKernel } from "../../../../src/debugger/linux/open_kernel.ts";
import { listDumpTasks } from "../../../../src/debugger/linux/list_tasks.ts";
import { readDumpLog } from "../../../../src/debugger/linux/read_log.ts";
import { answerConsoleText } from "../../../../src/debugger/linux/answer_text.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { nameFrames } from "../../../../src/dump/linux/triage/crash_stack.ts";
import { asList, asObject, asText } from "../../../support/expected_values.ts";
import { linuxSamples, readLinuxSample } from "../../../support/linux_samples.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { StepClock } from "../../../support/step_clock.ts";

/** `hvcrash_inner+0xe [hvcrash]`, as the kernel prints it. */
function kernelForm({ module, symbol, displacement, address }: DumpTriage["stack"][number]): string {
  const place = symbol === undefined ? address ?? "" : `${symbol}+${displacement ?? "0x0"}`;
  return module === null || module === "vmlinux" ? place : `${place} [${module}]`;
}

/** The key of the frames only: times in the expected log were rounded, `dmesg` cuts them. */
function withoutTimes(lines: readonly JsonValue[]): string[] {
  return lines.map((line) => asText(line).replace(/^\[ *\d+\.\d+\] /, ""));
}

function stackOf(value: JsonValue | undefined): string[] {
  return asList(value).map(asText);
}

function nullable(value: JsonValue | undefined): JsonObject | null {
  return value === undefined || value === null ? null : asObject(value);
}

for (const { file, expect } of linuxSamples("cores")) {
  Deno.test(`${file} tells what happened`, async () => {
    const bytes = await readLinuxSample(file);
    const files = new MemoryFiles({ "/core": { bytes } });
    const answer = await triageDumpFile(files, new StepClock(), { path: "/core", full: true });
    const right = asObject(expect["answer"]);
    const stack = stackOf(right["stack"]);

    assert.equal(answer.crash?.class, right["class"]);
    assert.equal(answer.crash?.headline, right["headline"]);
    assert.equal(answer.crash?.panic, right["panic"]);
    assert.equal(answer.crash?.evidence, right["from"]);
    assert.equal(answer.bucket, right["bucket"]);
    assert.deepEqual(answer.stack.map(kernelForm), stack);
    assert.equal(answer.stack_end, "bottom");
    assert.equal(answer.processor?.index, right["cpu"]);
    const task = asObject(right["task"]);
    assert.deepEqual([answer.thread?.id, answer.thread?.name], [task["pid"], task["comm"]]);
    assert.equal(answer.os_version, expect["release"]);
    assert.equal(answer.build_id, expect["build_id"]);
    const registers = nullable(right["regs"]);
    if (registers !== null) {
      for (const [ours, theirs] of [["rip", "ip"], ["rsp", "sp"], ["rbx", "bx"], ["r15", "r15"]] as const) {
        assert.equal(BigInt(answer.context?.registers[ours] ?? 0), BigInt(asText(registers[theirs])), ours);
      }
    }
    const modules = asList(expect["modules"]).map(asObject);
    assert.deepEqual(
      answer.modules.map(({ name, base, size_bytes }) => [name, BigInt(base), size_bytes]),
      modules.map(({ name, base, size }) => [name, BigInt(asText(base)), size]),
    );
    assert.deepEqual(answer.warnings.map(({ message }) => message), []);

    const log = await readDumpLog(files, new StepClock(), { path: "/core" });
    const tail = withoutTimes(asList(expect["log_tail"]));
    assert.deepEqual(withoutTimes(log.lines.slice(-tail.length)), tail);
    assert.equal(log.lost_messages, 0);

    const text = answerConsoleText(log.lines.join("\n"), { path: "log", full: true, warnings: [] });
    assert.equal(text.bucket, answer.bucket, "the core and its log have one key");
    assert.equal(text.crash?.evidence, "text");
    assert.deepEqual(
      text.stack.filter(({ symbol }) => symbol === "panic" || symbol === "dump_stack_lvl"),
      [],
    );
  });

  Deno.test(`${file} tells about every processor and task`, async () => {
    const bytes = await readLinuxSample(file);
    const kernel = await openLinuxKernel(new MemorySource(bytes));
    for (const each of asList(expect["cpus"]).map(asObject)) {
      const processor = kernel.processors().find(({ index }) => index === each["cpu"]);
      assert(processor !== undefined);
      const task = asObject(each["task"]);
      assert.deepEqual([processor.task()?.pid, processor.task()?.comm], [task["pid"], task["comm"]]);
      const walk = kernel.walk(processor.saved.context);
      const names = nameFrames(kernel, walk).map(({ place: { module, symbol } }) =>
        `${symbol?.name}+0x${symbol?.offset.toString(16)}${module === "vmlinux" ? "" : ` [${module}]`}`
      );
      assert.deepEqual(names, stackOf(each["frames"]));
    }
    assert.equal(kernel.taint()?.letters, expect["taint"]);
    assert.equal(kernel.panicProcessor(), expect["panic_cpu"]);
    assert.equal(kernel.symbols()?.count, expect["symbols"]);
    assert.equal(kernel.kallsyms()?.encoding, expect["kallsyms_encoding"]);
    assert.equal(kernel.kallsyms()?.foundBy, expect["kallsyms"]);
    assert.equal(kernel.info.foundBy, expect["vmcoreinfo"]);
    assert.equal(kernel.info.kernelOffset, BigInt(asText(expect["kaslr"])));

    const files = new MemoryFiles({ "/core": { bytes } });
    const blocked = asList(expect["blocked"]).map(asObject);
    const listed = await listDumpTasks(files, new StepClock(), {
      path: "/core",
      stacks: blocked.length > 0,
      limit: 1000,
    });
    assert.equal(listed.task_count, expect["tasks"]);
    for (const each of blocked) {
      const task = listed.tasks.find(({ pid }) => pid === each["pid"]);
      assert.deepEqual([task?.comm, task?.state], [each["comm"], each["state"]]);
      const top = stackOf(each["stack"] ?? each["top"]).map((frame) => {
        const [place = "", module] = frame.split(" ");
        return `${module === undefined ? "vmlinux" : module.slice(1, -1)}!${place}`;
      });
      assert.deepEqual(task?.stack?.slice(0, top.length), top);
      assert.equal(task?.stack?.length, each["frames"] ?? top.length);
    }
  });
}
