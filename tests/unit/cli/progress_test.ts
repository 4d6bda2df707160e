import assert from "node:assert/strict";
import { ProgressLine } from "../../../src/cli/progress.ts";
import { StepClock } from "../../support/step_clock.ts";

function start(columns = 80): { clock: StepClock; line: ProgressLine; written: string[] } {
  const clock = new StepClock();
  const written: string[] = [];
  const write = (text: string): Promise<void> => Promise.resolve(void written.push(text));
  return { clock, written, line: new ProgressLine({ clock, columns: () => columns, write }) };
}

Deno.test("work under a second shows nothing", async () => {
  const { clock, line, written } = start();
  line.report({ message: "booting" });
  await clock.advance(999);
  await line.stop();
  assert.deepEqual(written, []);
});

Deno.test("the line appears after a second, follows the work and is gone at the end", async () => {
  const { clock, line, written } = start();
  line.report({ message: "booting\x1b" });
  await clock.advance(1000);
  line.report({ message: "copy", fraction: 0.256 });
  await clock.advance(500);
  await line.stop();
  assert.deepEqual(written, [
    "\rbooting\\x1b (1 s)",
    "\rcopy 25 % (1 s)  ",
    `\r${" ".repeat("copy 25 % (1 s)".length)}\r`,
  ]);
});

Deno.test("the line gives way to other output for good", async () => {
  const { clock, line, written } = start();
  line.report({ message: "run" });
  await clock.advance(1000);
  await line.pause();
  await clock.advance(500);
  await line.stop();
  assert.deepEqual(written, ["\rrun (1 s)", `\r${" ".repeat(9)}\r`]);
});

Deno.test("the line never reaches the last column", async () => {
  const { clock, line, written } = start(10);
  line.report({ message: "箱箱箱箱箱箱" });
  await clock.advance(1000);
  await line.stop();
  assert.equal(written[0], "\r箱箱箱箱");
});

Deno.test("a terminal without any width shows no text", async () => {
  const { clock, line, written } = start(0);
  line.report({ message: "run" });
  await clock.advance(1000);
  await line.stop();
  assert.deepEqual(written.filter((text) => text.trim() !== ""), []);
});
