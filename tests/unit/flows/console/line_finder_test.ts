import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../../src/base/errors.ts";
import { systemClock } from "../../../../src/host/clock.ts";
import { expressionFinder, textFinder } from "../../../../src/flows/console/line_finder.ts";
import { failureOf } from "../../../support/failures.ts";
import { hurriedClock } from "../../../support/hurried_host.ts";

/** For each further letter it takes twice as long; these take longer than the machine will live. */
const ENDLESS = "^(a+)+$";
const FEEDS_IT = `${"a".repeat(100)}!`;

const never = new AbortController().signal;

Deno.test("a text is found as it is, in the first line that has it", async () => {
  using finder = textFinder("a.c");
  assert.deepEqual(await finder.find(["abc", "--a.c", "a.c"], never), { line: 1, at: 2 });
  assert.equal(await finder.find(["abc"], never), undefined);
  assert.equal(await finder.find([], never), undefined);
});

Deno.test("an expression finds what the same expression finds here", async () => {
  using finder = expressionFinder("\\p{Lu}[0-9]+|x$", systemClock);
  const here = /\p{Lu}[0-9]+|x$/u;
  const line = fc.array(fc.constantFrom("É1", "x", "é", " ", "😀", "7"), { maxLength: 6 })
    .map((parts) => parts.join(""));
  await fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 5 }), async (lines) => {
    const first = lines.findIndex((each) => here.test(each));
    const wanted = first < 0 ? undefined : { line: first, at: lines[first]?.search(here) };
    assert.deepEqual(await finder.find(lines, never), wanted);
  }));
});

Deno.test("an expression that does not come to an end is given up and named, and the thread goes on", async () => {
  let clock = hurriedClock(50);
  using finder = expressionFinder(ENDLESS, {
    ...systemClock,
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
  });
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 10);
  const error = await failureOf("hv.usage", () => finder.find(["fine", FEEDS_IT], never));
  clearInterval(ticking);
  assert.equal(error.context.reason, "slow_expression");
  assert.ok(error.message.includes(ENDLESS), error.message);
  assert.ok(ticks > 1, "everything else went on meanwhile");
  clock = systemClock;
  assert.deepEqual(
    await finder.find(["b", "aaa"], never),
    { line: 1, at: 0 },
    "the next question is answered",
  );
});

Deno.test("whoever has less time than that is told in time", async () => {
  using finder = expressionFinder(ENDLESS, systemClock);
  const limit = new AbortController();
  const late = new HvError("hv.timeout", "too late");
  setTimeout(() => limit.abort(late), 50);
  await assert.rejects(() => finder.find([FEEDS_IT], limit.signal), late);
});

Deno.test("what is no regular expression is refused with what is wrong with it", async () => {
  for (const text of ["(", "[z-a]", "\\", "a{2,1}", "\\p{Nothing}"]) {
    const error = await failureOf("hv.usage", () => expressionFinder(text, systemClock));
    assert.equal(error.context.serial, text);
  }
});
