import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/base/json.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { ANSWER_LIMIT, shorten } from "../../../src/mcp/shorten.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const host = openDenoHost();

/** Shortens in a state folder of its own; gives the answer and what the file holds. */
function inFolder(
  result: JsonObject,
  check: (answer: JsonObject, whole: unknown) => void,
): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    const answer = await shorten(result, host, new StateFolder(`${folder}/state`));
    const whole = typeof answer.file === "string"
      ? JSON.parse(await Deno.readTextFile(answer.file))
      : undefined;
    check(answer, whole);
  });
}

Deno.test("a result that fits stays as it is, and nothing is written", () =>
  withTemporaryFolder(async (folder) => {
    const result = { text: "x".repeat(ANSWER_LIMIT - 20) };
    assert.equal(await shorten(result, host, new StateFolder(`${folder}/state`)), result);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("the output of a program keeps its shape, head, tail and exact counts", () => {
  const stdout = `FIRST${"é\n".repeat(60_000)}LAST`;
  const result = { exit_code: 3, stdout, stderr: "oops", stdout_bytes: 180_009, stderr_bytes: 4 };
  return inFolder(result, (answer, whole) => {
    assert.ok(JSON.stringify(answer).length <= ANSWER_LIMIT);
    const { exit_code, stderr, stdout: cut, stdout_bytes, truncated, dropped_bytes } = answer;
    assert.deepEqual({ exit_code, stderr, stdout_bytes, truncated }, {
      exit_code: 3,
      stderr: "oops",
      stdout_bytes: 180_009,
      truncated: true,
    });
    assert.match(String(cut), /^FIRST(é\n)+\n?\[\d+ bytes left out\]\n[é\n]+LAST$/);
    const kept = new TextEncoder().encode(String(cut).replace(/\n\[\d+ bytes left out\]\n/, "")).length;
    assert.equal(dropped_bytes, 180_009 - kept);
    assert.deepEqual(whole, result);
  });
});

Deno.test("bytes that were missing before are counted once", () => {
  const stdout = "y".repeat(100_000);
  const result = { stdout, stdout_bytes: 5_000_000, truncated: true, dropped_bytes: 4_900_000 };
  return inFolder(result, (answer) => {
    const kept = String(answer.stdout).replace(/\n\[\d+ bytes left out\]\n/, "").length;
    assert.equal(answer.dropped_bytes, 5_000_000 - kept);
  });
});

Deno.test("base64 is cut so that it can be decoded, and decides the count", () => {
  const bytes = new Uint8Array(60_000).fill(0xff);
  const result = { stdout: "\uFFFD".repeat(60_000), stdout_base64: bytes.toBase64(), stdout_bytes: 60_000 };
  return inFolder(result, (answer) => {
    const kept = Uint8Array.fromBase64(String(answer.stdout_base64));
    assert.ok(kept.length > 1_000 && kept.every((byte) => byte === 0xff));
    assert.equal(answer.dropped_bytes, 60_000 - kept.length);
  });
});

Deno.test("a long text inside an operation's result is cut where it stands", () =>
  inFolder({ op: "op-1", result: { stdout: "z".repeat(90_000), stdout_bytes: 90_000 } }, (answer) => {
    assert.equal(answer.op, "op-1");
    const inner = answer.result;
    assert.ok(typeof inner === "object" && inner !== null && !Array.isArray(inner));
    assert.equal(inner.truncated, true);
    assert.equal(inner.dropped_bytes, answer.dropped_bytes);
  }));

Deno.test("a long list gives head and tail of its JSON", () => {
  const result = {
    vms: Array.from({ length: 2_000 }, (_, index) => ({ name: `machine ${index}`, cpus: 1 })),
  };
  return inFolder(result, (answer, whole) => {
    assert.ok(JSON.stringify(answer).length <= ANSWER_LIMIT);
    const text = JSON.stringify(result);
    assert.ok(text.startsWith(String(answer.head)) && text.endsWith(String(answer.tail)));
    assert.equal(answer.dropped_bytes, text.length - String(answer.head).length - String(answer.tail).length);
    assert.deepEqual(whole, result);
  });
});

Deno.test("a folder that cannot be written is told, and the answer comes all the same", () =>
  withTemporaryFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/state`, "a file where the folder should be");
    const answer = await shorten({ text: "x".repeat(50_000) }, host, new StateFolder(`${folder}/state`));
    assert.equal(answer.file, null);
    assert.match(String(answer.file_problem), /state/);
    assert.equal(answer.truncated, true);
  }));

Deno.test("old results make room for new ones", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(`${folder}/state`);
    for (let round = 0; round < 53; round++) await shorten({ text: "x".repeat(50_000) }, host, state);
    const newest = await shorten({ text: "y".repeat(50_000) }, host, state);
    assert.equal([...Deno.readDirSync(state.results)].length, 50);
    assert.ok(String(newest.file).startsWith(state.results));
    assert.match(await Deno.readTextFile(String(newest.file)), /yyyy/);
  }));
