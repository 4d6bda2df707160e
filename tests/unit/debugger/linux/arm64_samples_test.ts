/** Cores and consoles of real ARM64 guests. What the guests printed themselves says what is right. */

import assert from "node:assert/strict";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { answerConsoleText } from "../../../../src/debugger/linux/answer_text.ts";
import { listDumpTasks } from "../../../../src/debugger/linux/list_tasks.ts";
import { openLinuxKernel } from "../../../../src/debugger/linux/open_kernel.ts";
import { inspectDumpFile } from "../../../../src/debugger/inspect_file.ts";
import { readDumpLog } from "../../../../src/debugger/linux/read_log.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { readArmConsole, readArmCore, readPrinted } from "../../../support/arm64_samples.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { StepClock } from "../../../support/step_clock.ts";

/** `hvcrash_store+0xc [hvcrash]`, as the kernel prints it. */
function kernelForm({ module, symbol, displacement }: DumpTriage["stack"][number]): string {
  return `${symbol}+${displacement ?? "0x0"}${module === "vmlinux" ? "" : ` [${module}]`}`;
}

interface Sample {
  readonly name: string;
  readonly bucket: string;
  /** How many frames an interrupt or exception cut off. */
  readonly interrupted: number;
  /** Who ran on each processor. */
  readonly running: readonly (readonly [comm: string, pid: number] | null)[];
  readonly encoding: string;
}

/**
 * 6.12 with every symbol, signed return addresses, addresses of 52 bits and two processors; 6.1 with symbols of functions
 * only, addresses of 48 bits and a crash inside an interrupt.
 */
const SAMPLES: readonly Sample[] = [
  {
    name: "oops-6.12",
    bucket: "null-deref|hvcrash:hvcrash_store|hvcrash:hvcrash_pack|hvcrash:hvcrash_null",
    interrupted: 1,
    running: [["swapper/0", 0], ["insmod", 142]],
    encoding: "unsigned",
  },
  {
    name: "interrupt-6.1",
    bucket: "null-deref|hvcrash:hvcrash_store|hvcrash:hvcrash_pack|hvcrash:hvcrash_interrupted",
    interrupted: 2,
    running: [["insmod", 85]],
    encoding: "unsigned",
  },
];

for (const { name, bucket, interrupted, running, encoding } of SAMPLES) {
  Deno.test(`${name} of ARM64 tells what its kernel printed`, async () => {
    const bytes = await readArmCore(name);
    const text = readArmConsole(`${name}.console.txt`);
    const printed = readPrinted(text);
    const files = new MemoryFiles({ "/core": { bytes } });

    const { inspection } = await inspectDumpFile(files, new StepClock(), "/core");
    assert.deepEqual([inspection.machine, inspection.os_version], ["arm64", printed.release]);
    assert.match(inspection.report ?? "", /^Unable to handle kernel NULL pointer dereference/);

    const answer = await triageDumpFile(files, new StepClock(), { path: "/core", full: true });
    assert.equal(answer.machine, "arm64");
    assert.equal(answer.os_version, printed.release);
    assert.equal(answer.bucket, bucket);
    assert.equal(answer.crash?.class, "null-deref");
    assert.equal(answer.crash?.evidence, "core");
    assert.equal(answer.crash?.fault_address, "0x18");
    assert.equal(answer.crash?.reason, "DABT (current EL), level 2 translation fault");
    assert.equal(answer.taint?.letters, "GOE");
    assert.equal(answer.stack_end, "bottom");
    assert.deepEqual([answer.processor?.index, answer.thread?.id, answer.thread?.name], [
      printed.cpu,
      printed.pid,
      "insmod",
    ]);
    assert.deepEqual(answer.warnings, []);

    assert.deepEqual(answer.stack.filter(({ how }) => how !== "leaf").map(kernelForm), printed.trace);
    const leaf = answer.stack[1];
    assert.equal(leaf?.how, "leaf");
    assert.equal(leaf === undefined ? "" : kernelForm(leaf), printed.link);
    assert.equal(answer.stack.filter(({ how }) => how === "machine_frame").length, interrupted);
    const registers = answer.context?.registers ?? {};
    assert.ok(Object.keys(printed.registers).length > 30, "sp and x0 to x29 were printed");
    for (const [register, value] of Object.entries(printed.registers)) {
      assert.equal(BigInt(registers[register === "x29" ? "fp" : register] ?? -1), value, register);
    }

    const loaded = answer.modules.map((module) => [module.name, module.size_bytes, BigInt(module.base)]);
    assert.deepEqual(loaded.filter(([module]) => module !== "hvcrash"), printed.modules);

    const fromText = answerConsoleText(text, { path: "console", full: true, warnings: [] });
    assert.equal(fromText.bucket, answer.bucket, "the core and the console have one key");
    assert.equal(fromText.machine, "arm64");
    assert.deepEqual(fromText.stack.map(kernelForm), answer.stack.map(kernelForm));
    assert.equal(fromText.summary, answer.summary);
  });

  Deno.test(`${name} of ARM64 tells its log, processors and tasks`, async () => {
    const bytes = await readArmCore(name);
    const text = readArmConsole(`${name}.console.txt`);
    const printed = readPrinted(text);
    const kernel = await openLinuxKernel(new MemorySource(bytes));
    assert.equal(kernel.info.kernelOffset, printed.offset);
    assert.equal(kernel.kallsyms()?.encoding, encoding);
    assert.deepEqual(
      kernel.processors().map((each) => {
        const task = each.task();
        return task === null ? null : [task.comm, task.pid];
      }),
      running,
    );

    const files = new MemoryFiles({ "/core": { bytes } });
    const listed = await listDumpTasks(files, new StepClock(), { path: "/core", stacks: true, limit: 1000 });
    const tasks = new Map(listed.tasks.map((task) => [task.pid, task]));
    assert.ok(printed.tasks.length > 40);
    for (const [pid, comm] of printed.tasks) {
      if (comm === "ps") continue;
      const task = tasks.get(pid);
      // Behind the name of a worker, ps shows what it works on.
      const shown = comm.startsWith("kworker/") ? comm.slice(0, task?.comm.length) : comm;
      assert.equal(task?.comm, shown, `task ${pid}`);
      assert.match(task?.stack?.at(-1) ?? "", /^vmlinux!(?:ret_from_fork|el0t_64_sync)\+0x/, `task ${pid}`);
    }

    assert.equal(tasks.get(1)?.state, "S", "init waits for insmod");

    const log = await readDumpLog(files, new StepClock(), { path: "/core" });
    const said = text.split("\n").filter((line) => /^\[ *\d+\.\d+\] /.test(line));
    assert.deepEqual(
      log.lines.slice(-said.length).map((line) => line.trimEnd()),
      said.map((line) => line.trimEnd()),
    );
    assert.equal(log.lost_messages, 0);
  });
}

Deno.test("the core of a bare panic names the caller that its kernel misnames, and both have one key", async () => {
  const files = new MemoryFiles({ "/core": { bytes: await readArmCore("panic-6.1") } });
  const answer = await triageDumpFile(files, new StepClock(), { path: "/core", full: true });
  const text = readArmConsole("panic-6.1.console.txt");
  const fromText = answerConsoleText(text, { path: "console", full: true, warnings: [] });
  // The call of panic() ends hvcrash_give_up: what stands behind it is the beginning of hvcrash_panic.
  assert.match(text, /^\[ *[\d.]+\] {2}panic\+\S+\n.*\] {2}hvcrash_panic\+0x0\//m);
  const [caller, ...others] = answer.stack.map(kernelForm);
  assert.equal(caller, "hvcrash_give_up.isra.0+0x20 [hvcrash]");
  assert.equal(fromText.stack[0]?.symbol, "hvcrash_panic");
  assert.deepEqual(others, fromText.stack.slice(1).map(kernelForm));
  assert.equal(answer.bucket, "panic|hvcrash:hvcrash_panic|hvcrash:hvcrash_init|do_one_initcall");
  assert.equal(fromText.bucket, answer.bucket);
  assert.deepEqual([answer.processor?.index, answer.thread?.id], [0, 85]);
  assert.equal(answer.stack_end, "bottom");
  assert.deepEqual(answer.warnings, []);
});

const CONSOLES: readonly (readonly [file: string, bucket: string, summary: string])[] = [
  [
    "bug-6.12",
    "bug|hvcrash:hvcrash_assert|hvcrash:hvcrash_bug|hvcrash:hvcrash_init",
    "BUG at hvcrash.c:62 in hvcrash!hvcrash_assert+0x14, task insmod (141) on CPU 0",
  ],
  [
    "overflow-6.12",
    "stack-overflow|hvcrash:hvcrash_deeper|hvcrash:hvcrash_deeper|hvcrash:hvcrash_deeper",
    "Kernel stack overflow in hvcrash!hvcrash_deeper+0xc, task insmod (137) on CPU 0",
  ],
  [
    "soft-lockup-6.12",
    "soft-lockup|hvcrash:hvcrash_turn|hvcrash:hvcrash_spin|hvcrash:hvcrash_init",
    "Soft lockup for 5 s in hvcrash!hvcrash_turn+0x8, task insmod (149) on CPU 0",
  ],
  [
    "hung-task-6.12",
    "hung-task|hvcrash:hvcrash_sleep|hvcrash:hvcrash_init|do_one_initcall",
    "Hung task for 2 s most likely through hvcrash!hvcrash_sleep+0x28, task insmod (142)",
  ],
  [
    "warning-6.12",
    "warning|hvcrash:hvcrash_complain|hvcrash:hvcrash_warn|hvcrash:hvcrash_init",
    "WARNING at hvcrash.c:127 in hvcrash!hvcrash_complain.constprop.0+0x24, task insmod (137) on CPU 0",
  ],
  [
    "wild-6.12",
    "page-fault|hvcrash:hvcrash_store|hvcrash:hvcrash_pack|hvcrash:hvcrash_wild",
    "Page fault at 0x6b6b6b6b6b6b83 in hvcrash!hvcrash_store+0xc, task insmod (137) on CPU 0",
  ],
  ["init-killed-6.12", "init-killed|init|status 3", "Init was killed with status 3, task init (1) on CPU 0"],
  [
    "undefined-6.12",
    "invalid-opcode|hvcrash:x_udf|hvcrash:x_init|do_one_initcall",
    "Invalid opcode in hvcrash!x_udf+0x8, task insmod (140) on CPU 0",
  ],
  [
    // A call of address 0: the trace lacks the caller, which lr tells.
    "jump-6.12",
    "null-deref|hvcrash:x_call|hvcrash:x_jump0|hvcrash:x_init",
    "NULL pointer dereference at 0x0 in hvcrash!x_call+0x20, task insmod (142) on CPU 0",
  ],
  [
    "rcu-stall-6.12",
    "rcu-stall|hvcrash:x_stuck|hvcrash:x_rcu|hvcrash:x_init",
    "RCU stall in hvcrash!x_stuck+0x8, task insmod (147) on CPU 0",
  ],
  [
    // Processor 1 is stuck with interrupts off and prints nothing; the trace is that of processor 0, which noticed.
    "rcu-stall-other-6.12",
    "rcu-stall|rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
    "RCU stall, on CPU 1",
  ],
  [
    "stack-smash-6.12",
    "stack-smash|hvcrash:x_stackprot|hvcrash:x_init",
    "Stack overwritten most likely through hvcrash!x_stackprot+0x6c, task insmod (140) on CPU 0",
  ],
  ["sysrq-7.2", "sysrq-crash", "Crash asked for by SysRq, task init (1) on CPU 0"],
];

for (const [file, bucket, summary] of CONSOLES) {
  Deno.test(`the console ${file} of ARM64 tells what happened`, () => {
    const text = readArmConsole(`console/${file}.txt`);
    const answer = answerConsoleText(text, { path: "console", full: true, warnings: [] });
    assert.equal(answer.bucket, bucket);
    assert.equal(answer.summary, summary);
    assert.equal(answer.machine, "arm64");
    assert.equal(answer.crash?.later_reports, 0);
  });
}
