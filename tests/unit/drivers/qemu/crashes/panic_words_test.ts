import assert from "node:assert/strict";
import { bootOf } from "../../../../../src/drivers/qemu/launch/boot_files.ts";
import { panicWords } from "../../../../../src/drivers/qemu/crashes/panic_words.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

Deno.test("a kernel is told what was asked for, and of every oops when its crashes are kept", () => {
  assert.deepEqual(panicWords({}), []);
  assert.deepEqual(panicWords({ on_crash: "collect" }), ["oops=panic"]);
  assert.deepEqual(panicWords({ on_crash: "triage", panic_on: ["oops", "warn"] }), [
    "oops=panic",
    "panic_on_warn=1",
  ]);
  assert.deepEqual(panicWords({ panic_on: ["soft_lockup", "hung_task", "rcu_stall", "oom"] }), [
    "softlockup_panic=1",
    "hung_task_panic=1",
    "sysctl.kernel.panic_on_rcu_stall=1",
    "sysctl.vm.panic_on_oom=1",
  ]);
});

Deno.test("the words follow the VM's own command line", () =>
  withQemu(async ({ context, addVm }) => {
    const boot = { kernel: "kernel", append: "quiet" };
    const kept = await addVm({ boot, on_crash: "collect" });
    const words = async (record: typeof kept): Promise<string | undefined> => {
      const found = await bootOf(context, record);
      return found.kind === "kernel" ? found.append : "no kernel";
    };
    assert.equal(await words(kept), "quiet oops=panic");
    assert.equal(await words({ ...kept, boot: { kernel: "kernel" } }), "oops=panic");
    const { on_crash: _, ...plain } = kept;
    assert.equal(await words(plain), "quiet");
    assert.equal(await words({ ...plain, boot: { kernel: "kernel" } }), undefined);
  }));
