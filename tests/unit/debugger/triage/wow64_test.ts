/** Processes of 64-bit Windows that run 32-bit code: both stacks of a thread, or why there is none. */

import assert from "node:assert/strict";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { renderTriage } from "../../../../src/debugger/triage/render.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { askEngine, engineTest } from "../../../support/debugger_engine.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";
import { writeWow64 } from "../../../support/wow64_writer.ts";

async function triage(bytes: Uint8Array, full = true): Promise<DumpTriage> {
  return await withTemporaryFolder(async (folder) => {
    const path = `${folder}/app.dmp`;
    await Deno.writeFile(path, bytes);
    const host = openDenoHost();
    return await triageDumpFile(host.files, host.clock, { path, full });
  });
}

const NAMES = ["ntdll.dll+0x1234", "plugin.dll+0x2222", "app.exe+0x1111"];

function places(frames: DumpTriage["stack"] | undefined): string[] | undefined {
  return frames?.map(({ module, offset }) => `${module}+${offset}`);
}

Deno.test("a thread's 32-bit stack stands below its 64-bit one, or why it does not", async () => {
  const answer = await triage(writeWow64(["called", "called", "lost", "empty", "inside"]));
  assert.deepEqual(places(answer.stack), ["wow64.dll+0x2345"]);
  assert.deepEqual(places(answer.wow64?.stack), NAMES);
  assert.deepEqual([answer.wow64?.stack_end, answer.wow64?.stack_frames], ["bottom", 3]);
  assert.deepEqual(answer.wow64?.stack.map(({ how, sp }) => `${how} ${sp}`), [
    "context 0x0000000000200010",
    "frame_pointer 0x0000000000200028",
    "frame_pointer 0x0000000000200048",
  ]);
  const [called, lost, empty, inside] = answer.threads ?? [];
  assert.deepEqual(places(called?.wow64?.stack), NAMES);
  assert.deepEqual(lost?.wow64, { stack: [], stack_end: "no_memory", stack_frames: 0 });
  assert.deepEqual(empty?.wow64, { stack: [], stack_end: "no_context", stack_frames: 0 });
  assert.deepEqual([places(inside?.stack), inside?.stack_end, inside?.wow64], [NAMES, "bottom", undefined]);
  const page = renderTriage(answer);
  assert.match(page, /^32-bit stack \(3 frames, complete\)\n {3}1 .*ntdll\.dll\+0x1234\n/m);
  assert.match(page, /^thread 3 .*\n.*\n32-bit stack not readable \(its registers are not in the dump\)$/m);
});

Deno.test("the 32-bit stack tells whom to blame when the 64-bit one is the system's", async () => {
  const { culprit, modules } = await triage(writeWow64(["called"], { exception: true }), false);
  assert.deepEqual([culprit?.module, culprit?.rule, culprit?.offset], ["plugin.dll", "stack", "0x2222"]);
  assert.deepEqual(modules.map(({ name }) => name), ["plugin.dll", "wow64.dll", "ntdll.dll", "app.exe"]);
});

Deno.test("an exception in 32-bit code is told with the registers of that code", async () => {
  const answer = await triage(writeWow64(["inside"], { exception: true }));
  assert.deepEqual(places(answer.stack), NAMES);
  assert.equal(answer.context?.origin, "exception");
  assert.equal(answer.context?.registers["eip"], "0x0000000077101234");
  assert.equal(answer.context?.registers["esi"], "0x0000000000000051");
  assert.equal(answer.wow64, undefined);
});

Deno.test("a process without the layer has no such stack", async () => {
  const answer = await triage(writeWow64(["called"], { withoutLayer: true }));
  assert.deepEqual([answer.wow64, answer.stack.length], [undefined, 1]);
});

// It follows the slot only with an extension that is not everywhere, and guesses where frame pointers lead.
engineTest("the engine shows the same registers in 32-bit code", async () => {
  const printed = await askEngine(writeWow64(["inside"]), ".effmach x86", "r");
  assert.match(printed.get("r") ?? "", /esi=00000051 edi=000000d1\neip=77101234 esp=00200010 ebp=00200020/);
});
