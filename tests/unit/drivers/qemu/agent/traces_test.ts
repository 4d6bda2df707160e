/** What a call that was killed left in a guest, and the next call's dealing with it. */

import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { joinPath } from "../../../../../src/base/paths.ts";
import { openAgentChannel } from "../../../../../src/drivers/qemu/agent/channel.ts";
import {
  AGENT_AGE,
  END_PROGRAM,
  FIND_WAITING,
  START_PROGRAM,
} from "../../../../../src/drivers/qemu/agent/scripts.ts";
import type { GuestCommand } from "../../../../../src/guest/channel.ts";
import type { Files } from "../../../../../src/host/files.ts";
import { failureOf } from "../../../../support/failures.ts";
import { FakeAgent, type FakeAnswer } from "../../../../support/fake_agent.ts";
import { openHurriedHost } from "../../../../support/hurried_host.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

const ABANDONED_PID = 42;
const SCRIPT_PID = 7;
/** Of a file that the call itself writes. */
const INPUT_HANDLE = 9;
/** A script of ours that does not end. */
const STUCK_PID = 8;
const nowhere = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };

/** A guest of which a killed call's trace is there, and what it says to our scripts. */
interface Guest {
  trace?: JsonObject;
  /** Whether the agent knows the abandoned program. */
  knows?: boolean;
  /** What our scripts print. */
  prints?: Readonly<Record<string, string>>;
  /** The script of ours that does not end. */
  stuck?: string;
  /** Whether it answers nothing to a closing. */
  keepsOpen?: boolean;
  /** What is to be run, instead of `true`. */
  command?: GuestCommand;
}

interface Seen {
  /** Arguments of our scripts, by their text. */
  scripts: Map<string, string[]>;
  closed: number[];
  /** The traces that were there when the program was to be started. */
  traces: { name: string; text: string }[];
  /** The traces that are there afterwards. */
  left: { name: string; text: string }[];
  /** How often somebody looked for traces. */
  looks: number;
}

/** Runs a program in such a guest, which refuses it in the end. */
async function runBeside(
  { trace, knows = false, prints = {}, stuck, keepsOpen = false, command = { argv: ["true"] } }: Guest,
): Promise<Seen> {
  const seen: Seen = { scripts: new Map(), closed: [], traces: [], left: [], looks: 0 };
  await withTemporaryFolder(async (folder) => {
    const [socket, lock] = [joinPath(folder, "agent"), joinPath(folder, "lock")];
    if (trace !== undefined) await Deno.writeTextFile(`${lock}.trace-killed`, JSON.stringify(trace));
    let printed = "";
    const answer = (name: string, values: JsonObject): FakeAnswer => {
      if (name === "guest-file-close") {
        seen.closed.push(Number(values.handle));
        return keepsOpen ? undefined : { return: {} };
      }
      if (name === "guest-exec-status") {
        if (values.pid === SCRIPT_PID) return ended(printed);
        if (values.pid === STUCK_PID) return { return: { exited: false } };
        return knows ? { return: { exited: false } } : refusal("Invalid parameter 'pid'");
      }
      if (name === "guest-file-open") return { return: INPUT_HANDLE };
      if (name !== "guest-exec") return { return: {} };
      const [script = "", ...words] = wordsOf(values.arg);
      seen.scripts.set(script, words.slice(1));
      if (script === START_PROGRAM) {
        seen.traces = tracesIn(folder);
        return refusal("not today");
      }
      printed = prints[script] ?? "";
      return { return: { pid: script === stuck ? STUCK_PID : SCRIPT_PID } };
    };
    const agent = new FakeAgent(socket, { answer });
    const isCrashed = () => Promise.resolve(undefined);
    const hurried = openHurriedHost();
    const list: Files["list"] = (path) => {
      seen.looks++;
      return hurried.files.list(path);
    };
    const host = { ...hurried, files: { ...hurried.files, list } };
    const channel = openAgentChannel({ host, socket, lock, isCrashed });
    const signal = AbortSignal.timeout(20_000);
    await failureOf("hv.io", () => channel.exec(command, nowhere, signal));
    channel.close();
    await agent.close();
    seen.left = tracesIn(folder);
    if (!keepsOpen) assert.deepEqual(seen.left, []);
  });
  return seen;
}

function wordsOf(value: unknown): string[] {
  const [, ...words] = Array.isArray(value) ? value.map(String) : [];
  return words;
}

function tracesIn(folder: string): { name: string; text: string }[] {
  return [...Deno.readDirSync(folder)].filter(({ name }) => name.includes(".trace-"))
    .map(({ name }) => ({ name, text: Deno.readTextFileSync(joinPath(folder, name)) }));
}

function ended(printed: string): FakeAnswer {
  return { return: { exited: true, exitcode: 0, "out-data": btoa(printed) } };
}

function refusal(desc: string): FakeAnswer {
  return { error: { class: "GenericError", desc } };
}

Deno.test("what a call begins is noted before the guest hears of it, by a word that the guest is given", async () => {
  const { scripts, traces } = await runBeside({});
  const [word] = scripts.get(START_PROGRAM) ?? [];
  assert.deepEqual(traces, [{ name: `lock.trace-${word}`, text: '{"base":"","handles":[]}' }]);
});

Deno.test("a program whose process nobody has heard of is looked for by its word, and ended", async () => {
  const { scripts } = await runBeside({
    trace: { base: "/tmp/fifo", handles: [] },
    knows: true,
    prints: { [FIND_WAITING]: `${ABANDONED_PID}\n` },
  });
  assert.deepEqual(scripts.get(FIND_WAITING), ["killed"]);
  assert.deepEqual(scripts.get(END_PROGRAM), [String(ABANDONED_PID), "/tmp/fifo"]);
});

Deno.test("one that its word gives away is ended although the agent has been restarted since", async () => {
  const prints = { [FIND_WAITING]: `${ABANDONED_PID}\n` };
  const { scripts } = await runBeside({ trace: { base: "", handles: [] }, prints });
  assert.deepEqual(scripts.get(END_PROGRAM), [String(ABANDONED_PID), ""]);
});

Deno.test("a number that an agent does not know may be another program's by now", async () => {
  const { scripts } = await runBeside({ trace: { pid: ABANDONED_PID, base: "", handles: [] } });
  assert.equal(scripts.has(END_PROGRAM), false);
});

Deno.test("a program that cannot be ended holds a later call up for a moment, and none after that", async () => {
  const trace = { pid: ABANDONED_PID, base: "", handles: [3] };
  const { scripts, closed } = await runBeside({ trace, knows: true, stuck: END_PROGRAM });
  assert.deepEqual([scripts.has(START_PROGRAM), closed], [true, [3]]);
});

Deno.test("what the agent did not hear to close stays noted", async () => {
  const prints = { [AGENT_AGE]: "100000000\n" };
  const { closed, left } = await runBeside({ trace: { handles: [5] }, prints, keepsOpen: true });
  assert.deepEqual([closed, left], [[5], [{ name: "lock.trace-killed", text: '{"handles":[5]}' }]]);
});

Deno.test("one call looks for traces once, also when its program reads something", async () => {
  assert.equal((await runBeside({})).looks, 1);
  const command = { argv: ["cat"], stdin: () => Promise.resolve(null) };
  assert.equal((await runBeside({ command })).looks, 1);
});

Deno.test("a start that never reached the guest has left nothing", async () => {
  const { scripts, closed } = await runBeside({ trace: { base: "", handles: [] } });
  assert.deepEqual([scripts.has(END_PROGRAM), closed], [false, []]);
});

Deno.test("files are closed although the end of their program was told already, and those of a copy", async () => {
  const prints = { [AGENT_AGE]: "100000000\n" };
  const { closed } = await runBeside({ trace: { pid: ABANDONED_PID, base: "", handles: [3, 4] }, prints });
  assert.deepEqual(closed, [3, 4]);
  assert.deepEqual((await runBeside({ trace: { handles: [5] }, prints })).closed, [5]);
});

Deno.test("an agent that has come up since may call other files so", async () => {
  const prints = { [AGENT_AGE]: "-100\n" };
  const { closed } = await runBeside({ trace: { pid: ABANDONED_PID, base: "", handles: [3, 4] }, prints });
  assert.deepEqual(closed, []);
  assert.deepEqual((await runBeside({ trace: { handles: [5] }, prints })).closed, []);
});

Deno.test("a program that was not seen to end is left to the next call, with its files", async () => {
  await withTemporaryFolder(async (folder) => {
    const [socket, lock] = [joinPath(folder, "agent"), joinPath(folder, "lock")];
    const over = new HvError("hv.timeout", "The time limit of 1 s has passed");
    const caller = new AbortController();
    let handle = 0;
    let looks = 0;
    const answer = (name: string, values: JsonObject): FakeAnswer => {
      const [script] = wordsOf(values.arg);
      if (name === "guest-exec") {
        return { return: { pid: script === START_PROGRAM ? ABANDONED_PID : SCRIPT_PID } };
      }
      if (name === "guest-file-open") return { return: ++handle };
      if (name === "guest-file-read") return refusal("Resource temporarily unavailable");
      if (name !== "guest-exec-status") return { return: {} };
      if (values.pid === SCRIPT_PID) return { return: { exited: true, exitcode: 1 } };
      if (++looks === 2) caller.abort(over);
      return { return: { exited: false } };
    };
    const agent = new FakeAgent(socket, { answer });
    const isCrashed = () => Promise.resolve(undefined);
    const channel = openAgentChannel({ host: openHurriedHost(), socket, lock, isCrashed });
    const failure = await failureOf(
      "hv.timeout",
      () => channel.exec({ argv: ["true"] }, nowhere, caller.signal),
    );
    assert.equal(failure.context.guest_program_ended, false);
    const texts = tracesIn(folder).map(({ text }) => JSON.parse(text));
    assert.deepEqual(texts, [{ pid: ABANDONED_PID, base: "", handles: [1, 2, 3, 4, 5] }]);
    channel.close();
    await agent.close();
  });
});
