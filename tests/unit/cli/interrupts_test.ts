import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { watchInterrupts } from "../../../src/cli/interrupts.ts";
import { runCommandLine, whenPrinted } from "../../support/command_line.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";
import { TestTerminal } from "../../support/test_terminal.ts";

Deno.test("the first interrupt cancels, and listening ends with the watch", () => {
  const terminal = new TestTerminal();
  {
    using interrupts = watchInterrupts(terminal);
    terminal.interrupt();
    const reason: unknown = interrupts.signal.reason;
    assert.ok(reason instanceof HvError);
    assert.deepEqual([reason.code, reason.context], ["hv.cancelled", { signal: "SIGINT" }]);
  }
  assert.equal(terminal.isWatched, false);
});

Deno.test("a tool that is over in a moment leaves signals alone", () => {
  using interrupts = watchInterrupts(undefined);
  assert.equal(interrupts.signal.aborted, false);
  interrupts.cancel(new HvError("hv.cancelled", "The reader has gone"));
  assert.equal(interrupts.signal.aborted, true);
});

Deno.test({
  name: "a second interrupt ends at once what the first one does not end",
  // The call that is left behind keeps its timer and its files; the program would end here. Windows removes no open file.
  ignore: Deno.build.os === "windows",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withTemporaryFolder(async (folder) => {
      // By then it has opened all that it opens: what would be made later would be made in a folder that is being removed.
      const during = whenPrinted((terminal) => {
        terminal.interrupt();
        terminal.interrupt();
      });
      const { code } = await runCommandLine(["box", "run", "tiny", "--", "ignore", "begun"], {
        folder,
        during,
      });
      assert.equal(code, 125);
    });
  },
});
