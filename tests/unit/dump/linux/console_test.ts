/** Forms of console text that no sample has: other machines, other reports, and what surrounds them. */

import assert from "node:assert/strict";
import { cleanLine, splitGlued } from "../../../../src/dump/linux/console/lines.ts";
import { type ConsoleFindings, parseConsole } from "../../../../src/dump/linux/console/parse.ts";
import { decodeConsole, looksLikeText } from "../../../../src/dump/linux/console/text.ts";
import { blameLinux } from "../../../../src/dump/linux/triage/blame.ts";

function parse(text: string): ConsoleFindings {
  return parseConsole(text.split("\n"));
}

function names({ main }: ConsoleFindings): string[] {
  return (main?.stack ?? []).map(({ name, module }) => module === null ? name : `${module}:${name}`);
}

Deno.test("an oops of an ARM64 kernel", () => {
  const found = parse(`
[   12.000001] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000018
[   12.000002] Mem abort info:
[   12.000003]   ESR = 0x0000000096000044
[   12.000004] Internal error: Oops: 0000000096000044 [#1] PREEMPT SMP
[   12.000005] Modules linked in: mymod(O)
[   12.000006] CPU: 1 PID: 77 Comm: insmod Tainted: G           O       6.1.0-arm64 #1
[   12.000007] pstate: 60400005 (nZCv daif +PAN -UAO -TCO -DIT -SSBS BTYPE=--)
[   12.000008] pc : my_store+0x8/0x20 [mymod]
[   12.000009] lr : my_init+0x24/0x1000 [mymod]
[   12.000010] sp : ffff80000a5f3a10
[   12.000011] Call trace:
[   12.000012]  my_store+0x8/0x20 [mymod]
[   12.000013]  my_init+0x24/0x1000 [mymod]
[   12.000014]  do_one_initcall+0x50/0x1d0
[   12.000015] Code: bad PC value`);
  assert.equal(found.main?.report.machine, "arm64");
  assert.equal(found.main?.report.facts["address"], "0000000000000018");
  assert.deepEqual(names(found), ["mymod:my_store", "mymod:my_init", "do_one_initcall"]);
  assert.equal(found.main?.bucket, "null-deref|mymod:my_store|mymod:my_init|do_one_initcall");
  assert.equal(found.reports.length, 1, "the Oops line belongs to the report before it");
});

Deno.test("a report of KASAN counts before the panic that it triggers", () => {
  const found = parse(`
==================================================================
BUG: KASAN: slab-out-of-bounds in my_fill+0x32/0x50 [mymod]
Write of size 1 at addr ffff888004c5b040 by task sh/110

CPU: 0 PID: 110 Comm: sh Tainted: G    B      O       6.1.0 #1
Call Trace:
 <TASK>
 dump_stack_lvl+0x45/0x5a
 print_report+0xcf/0x620
 kasan_report+0xbd/0x100
 my_fill+0x32/0x50 [mymod]
 my_write+0x7c/0x100 [mymod]
 </TASK>
Kernel panic - not syncing: KASAN: panic_on_warn set ...`);
  assert.equal(found.main?.report.class, "kasan");
  assert.equal(found.main?.bucket, "kasan|mymod:my_fill|mymod:my_write");
  assert.equal(found.later, 0);
});

Deno.test("the lines of another processor do not get into a trace", () => {
  const found = parse(`
[    3.000001][  T110] BUG: kernel NULL pointer dereference, address: 0000000000000018
[    3.000002][  T110] CPU: 0 PID: 110 Comm: sh Not tainted 6.1.0 #1
[    3.000003][  T110] RIP: 0010:my_store+0x8/0x20 [mymod]
[    3.000004][  T110] Call Trace:
[    3.000005][  T110]  <TASK>
[    3.000004][    C1] clocksource: something else
[    3.000006][  T110]  my_pack+0xd/0x20 [mymod]
[    3.000005][    C1]  other_function+0x1/0x2
[    3.000007][  T110]  my_write+0x7c/0x100 [mymod]`);
  assert.deepEqual(names(found), ["mymod:my_store", "mymod:my_pack", "mymod:my_write"]);
  assert.equal(found.main?.report.taint, "");
});

Deno.test("a hard lockup, a lock report and a bare Oops", () => {
  assert.equal(
    parse("NMI watchdog: Watchdog detected hard LOCKUP on cpu 3").main?.report.facts["cpu"],
    "3",
  );
  assert.equal(
    parse("WARNING: possible circular locking dependency detected").main?.report.class,
    "lockdep",
  );
  assert.equal(
    parse("Internal error: Oops - undefined instruction: 0 [#1] SMP ARM").main?.report.class,
    "oops",
  );
});

Deno.test("a WARNING in the form that newer kernels print", () => {
  const found = parse("WARNING: drivers/my/my.c:42 at my_check+0x10/0x20, CPU#2: worker/7");
  assert.deepEqual(
    [found.main?.report.class, found.main?.report.cpu, found.main?.report.comm, found.main?.report.pid],
    ["warning", 2, "worker", 7],
  );
});

Deno.test("text without any report", () => {
  const found = parse(`Linux version 6.1.0-test (builder)
[    1.0] ALERT!  /dev/vda1 does not exist.  Dropping to a shell!`);
  assert.equal(found.main, null);
  assert.equal(found.release, "6.1.0-test");
  assert.deepEqual(found.bootFailures.length, 1);
});

Deno.test("what surrounds a line is taken off, and nothing more", () => {
  for (
    const [raw, text] of [
      ["<4>[    1.000000] words", "words"],
      ["[    1.000000][ T12] words", "words"],
      ["\x1B[1;31m[    1.000000] words\x1B[0m\r", "words"],
      ["Nov 29 23:00:00 host kernel: [    1.000000] words", "words"],
      ["2026-11-29T23:00:00+0000 host kernel: words", "words"],
      ["[Sun Nov 29 23:00:00 2026] words", "words"],
      [
        "Kernel panic - not syncing: kernel: panic_on_warn set",
        "Kernel panic - not syncing: kernel: panic_on_warn set",
      ],
    ] as const
  ) assert.equal(cleanLine(raw).text, text);
  assert.deepEqual(splitGlued("login: [    1.000000] BUG: words"), ["login: ", "[    1.000000] BUG: words"]);
});

Deno.test("text is told from anything else", () => {
  const encoder = new TextEncoder();
  assert(looksLikeText(encoder.encode("[    0.000000] Linux version 6.1.0 ü\r\n\x1B[0m")));
  assert(!looksLikeText(new Uint8Array(100)));
  assert(!looksLikeText(new Uint8Array(0)));
  const wide = Uint8Array.of(0xFF, 0xFE, 0x42, 0, 0x55, 0, 0x47, 0);
  assert(looksLikeText(wide));
  assert.equal(decodeConsole(wide), "BUG");
});

Deno.test("who is blamed, and how surely", () => {
  const frame = (name: string, module: string | null = null) => ({ name, module });
  const rules = [
    ["null-deref", [frame("store", "mymod"), frame("vfs_write")], [0, "high"]],
    ["null-deref", [frame("strlen"), frame("store", "mymod")], [1, "medium"]],
    ["hung-task", [frame("__schedule"), frame("schedule"), frame("wait", "mymod")], [2, "medium"]],
    ["soft-lockup", [frame("spin", "mymod")], [0, "high"]],
    ["double-fault", [frame("kmem_cache_alloc"), frame("vm_area_alloc")], [0, "low"]],
  ] as const;
  for (const [kind, frames, [index, confidence]] of rules) {
    const blame = blameLinux(kind, frames);
    assert.deepEqual([blame?.frame, blame?.confidence], [index, confidence], kind);
  }
  assert.equal(blameLinux("init-killed", [frame("do_exit")]), null);
  assert.equal(blameLinux("gpf", []), null);
});
