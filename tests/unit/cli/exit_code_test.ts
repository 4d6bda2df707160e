import assert from "node:assert/strict";
import { type ErrorCode, EXIT_CODE_OF, HvError } from "../../../src/base/errors.ts";
import { exitCodeOf, failureCodeOf } from "../../../src/cli/exit_code.ts";
import { boxList, boxRun } from "../../support/sample_tools.ts";

const PROGRAM = { runsProgram: true, bisect: false };
const BISECT = { runsProgram: true, bisect: true };

for (
  const [result, code, bisected] of [
    [{ exit_code: 0 }, 0, 0],
    [{ exit_code: 7 }, 7, 1],
    [{ exit_code: 125 }, 125, 1],
    [{ exit_code: 255 }, 255, 1],
    [{ exit_code: 256 }, 1, 1],
    [{ exit_code: 0xc0000005 }, 1, 1],
    [{ exit_code: -1 }, 1, 1],
    [{ exit_code: null, signal: 9 }, 1, 1],
    [{}, 1, 1],
  ] as const
) {
  Deno.test(`a program that ended as ${JSON.stringify(result)} gives ${code}, bisecting ${bisected}`, () => {
    assert.equal(exitCodeOf(boxRun, result, PROGRAM), code);
    assert.equal(exitCodeOf(boxRun, result, BISECT), bisected);
  });
}

Deno.test("a tool without a program gives 0", () => {
  assert.equal(exitCodeOf(boxList, { boxes: [] }, { runsProgram: false, bisect: false }), 0);
});

Deno.test("failures around a program are 124, 126 and 125 for all others", () => {
  const codes = new Map<ErrorCode, [number, number]>([["hv.timeout", [124, 1]], ["hv.guest_crashed", [
    126,
    1,
  ]]]);
  const all: ErrorCode[] = [
    "hv.usage",
    "hv.not_found",
    "hv.timeout",
    "hv.guest_crashed",
    "hv.guest_auth",
    "hv.internal",
  ];
  for (const code of all) {
    const error = new HvError(code, "x");
    const [plain, bisected] = codes.get(code) ?? [125, 125];
    assert.equal(failureCodeOf(error, PROGRAM), plain, code);
    assert.equal(failureCodeOf(error, BISECT), bisected, code);
    assert.equal(failureCodeOf(error, { runsProgram: false, bisect: false }), EXIT_CODE_OF[code]);
  }
});
