import assert from "node:assert/strict";
import { isInTaskList } from "../../../src/host/task_list.ts";
import { failureOf } from "../../support/failures.ts";

const NONE = "INFO: No tasks are running which match the specified criteria.\r\n";
const ROW = '"System, really","4242","Services","0","35,684 K"\r\n';

function answering(stdout: string, code = 0) {
  const asked: string[][] = [];
  const bytes = new TextEncoder();
  return {
    asked,
    run: (args: readonly string[]) => {
      asked.push([...args]);
      return Promise.resolve({ code, stdout: bytes.encode(stdout), stderr: bytes.encode("") });
    },
  };
}

Deno.test("a row with the number says that the process runs", async () => {
  const { run, asked } = answering(ROW);
  assert.equal(await isInTaskList(run, 4242), true);
  assert.deepEqual(asked, [["/FI", "PID eq 4242", "/FO", "CSV", "/NH"]]);
});

Deno.test("another row, or a sentence in any language, says that it does not", async () => {
  assert.equal(await isInTaskList(answering(ROW).run, 424), false);
  assert.equal(await isInTaskList(answering(NONE).run, 4242), false);
  assert.equal(
    await isInTaskList(answering("INFORMATION: Es werden keine Aufgaben ausgeführt\r\n").run, 4242),
    false,
  );
});

Deno.test("silence or a failure proves nothing", async () => {
  await failureOf("hv.io", () => isInTaskList(answering("").run, 1));
  await failureOf("hv.io", () => isInTaskList(answering(NONE, 1).run, 1));
});
