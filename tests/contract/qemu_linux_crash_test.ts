/** Real kernels crashed by a module of ours: the answer names what was asked for, and agrees with the kernel's own trace. */

import assert from "node:assert/strict";
import type { DumpTriage } from "../../src/contract/dump_triage.ts";
import { answerConsoleText } from "../../src/debugger/linux/answer_text.ts";
import { readDumpLog } from "../../src/debugger/linux/read_log.ts";
import { triageDumpFile } from "../../src/debugger/triage/triage_file.ts";
import { answerCrash } from "../../src/flows/crashes/crash_policy.ts";
import { letGuestTell } from "../../src/flows/crashes/guest_panic.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { failureOf } from "../support/failures.ts";
import { findCrashModule } from "../support/hvcrash_module.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const MODULE = findCrashModule();
const MODULE_PATH = "/tmp/hvcrash.ko";

/** What each kind must be told as: its class, and the module's functions on the stack, innermost first. */
const CRASHES = {
  null: ["null-deref", "hvcrash_store hvcrash_pack hvcrash_null hvcrash_init"],
  bug: ["bug", "hvcrash_assert hvcrash_bug hvcrash_init"],
  divide: ["divide-error", "hvcrash_share hvcrash_divide hvcrash_init"],
  panic: ["panic", "hvcrash_give_up hvcrash_panic hvcrash_init"],
  warn: ["warning", "hvcrash_complain hvcrash_warn hvcrash_init"],
  overflow: ["stack-overflow", "hvcrash_deeper hvcrash_overflow hvcrash_init"],
} as const;

type Kind = keyof typeof CRASHES;
const KINDS = ["null", "divide", "overflow", "bug", "warn", "panic"] satisfies Kind[];

/** Crashes a guest, has the crash answered, and gives the path of the core that was kept. */
async function crash({ driver, host, scope, state, sandbox }: QemuLab, kind: Kind): Promise<string> {
  const id = await driver.sandboxes?.create(sandbox({ name: kind }), scope) ?? "";
  const { signal } = scope;
  const channel = openChannel(driver, await driver.vms.get(id, signal));
  await channel.ping(signal);
  const parts = [MODULE ?? new Uint8Array(0)];
  await channel.writeFile(
    MODULE_PATH,
    () => Promise.resolve(parts.shift() ?? null),
    { overwrite: true },
    signal,
  );
  const sinks = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  assert.equal(await letGuestTell(channel, ["oops", "warn"], signal), undefined);
  const insert = { argv: ["insmod", MODULE_PATH, `kind=${kind}`] };
  const crashed = await failureOf("hv.guest_crashed", () => channel.exec(insert, sinks, signal));
  const folder = `${state.root}/crashes/${kind}`;
  const options = { host, driver, id, policy: "triage", folder, spare: folder } as const;
  const { error, page } = await answerCrash(crashed, options, scope);
  assert.match(error.message, /^The guest has crashed: .+hvcrash!hvcrash_/);
  assert.match(page ?? "", /machine_frame|unwind/);
  const kept = error.context.crash;
  assert(typeof kept === "object" && kept !== null && !Array.isArray(kept) && typeof kept.core === "string");
  assert.match(Deno.readTextFileSync(`${options.folder}/console.log`), /hvcrash/);
  assert.match(Deno.readTextFileSync(`${options.folder}/kernel.log`), /Kernel panic - not syncing/);
  const again = await answerCrash(crashed, options, scope);
  assert.match(
    JSON.stringify(again.error.context.crash),
    /"failure":"Cannot .+exists/,
    "nothing is replaced",
  );
  await driver.vms.remove(id, scope);
  return kept.core;
}

function functionsOf({ stack }: DumpTriage, module?: string): string[] {
  return stack.filter((frame) => module === undefined || frame.module === module)
    .map(({ symbol, displacement }) =>
      module === undefined
        ? `${symbol}+${displacement}`
        : symbol?.replace(/\.(?:constprop|isra)\.\d+$/, "") ?? ""
    )
    .filter((name, index, all) => name !== all[index - 1]);
}

async function assertCrash(lab: QemuLab, kind: Kind): Promise<void> {
  const [expected, functions] = CRASHES[kind];
  const { files, clock } = lab.host;
  const path = await crash(lab, kind);
  const answer = await triageDumpFile(files, clock, { path, full: true });
  assert.equal(answer.crash?.class, expected);
  assert.equal(answer.crash?.evidence, "core");
  assert.deepEqual(functionsOf(answer, "hvcrash"), functions.split(" "));
  assert.equal(answer.culprit?.module, "hvcrash");
  assert.equal(answer.thread?.name, "insmod");
  assert.equal(answer.stack_end, "bottom");
  assert.deepEqual(answer.warnings, []);
  const { lines } = await readDumpLog(files, clock, { path });
  const printed = answerConsoleText(lines.join("\n"), { path, full: true, warnings: [] });
  assert.deepEqual(functionsOf(answer), functionsOf(printed), "the kernel's own trace says the same");
  assert.equal(printed.bucket, answer.bucket);
}

qemuTest(
  "crashes of a module are told from the core alone, as the kernel's own trace tells them",
  async (lab) => {
    // Clones of a machine that has booted are quicker than machines that boot.
    await lab.driver.templates?.warm("tiny", { memory_mb: 128, cpus: 1 }, lab.scope);
    for (const kind of KINDS) await assertCrash(lab, kind);
  },
  MODULE !== undefined,
);
