import assert from "node:assert/strict";
import {
  crashFolder,
  type CrashNote,
  KEPT_PER_VM,
  pruneCrashes,
  readCrashNotes,
  writeCrashNote,
} from "../../../src/state/crash_notes.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const GIB = 1024 ** 3;

async function withState(work: (host: ScriptedHost, state: StateFolder) => Promise<void>): Promise<void> {
  await using host = await ScriptedHost.open();
  await work(host, new StateFolder(`${host.root}/state`));
}

function noteOf(vm: string, minute: number): CrashNote {
  const at = `2026-11-29T11:${String(minute).padStart(2, "0")}:00.000Z`;
  return { vm, name: "web", at, run: "2026-11-29T11:00:00.000Z", policy: "collect", state: "kept" };
}

Deno.test("no crashes are no notes", () =>
  withState(async (host, state) => {
    assert.deepEqual(await readCrashNotes(host, state), []);
    assert.deepEqual(await pruneCrashes(host, state), []);
  }));

Deno.test("notes come back as they were written, in their order; operations and damaged notes are passed over", () =>
  withState(async (host, state) => {
    const notes = [noteOf("vm-a", 1), noteOf("vm-b", 2), noteOf("vm-a", 3)];
    for (const note of notes.toReversed()) await writeCrashNote(host, state, note);
    await Deno.mkdir(`${state.crashes}/op-01`);
    const damaged = noteOf("vm-a", 4);
    await writeCrashNote(host, state, damaged);
    await Deno.writeTextFile(`${crashFolder(state, damaged)}/crash.json`, "{");
    await writeCrashNote(host, state, noteOf("vm-a", 5));
    // A note that says that it belongs elsewhere would lead to another folder's removal.
    await Deno.writeTextFile(
      `${crashFolder(state, noteOf("vm-a", 5))}/crash.json`,
      JSON.stringify(noteOf("vm-b", 9)),
    );
    assert.deepEqual(await readCrashNotes(host, state), notes);
    assert.deepEqual(await readCrashNotes(host, state, "vm-a"), [notes[0], notes[2]]);
  }));

Deno.test("each VM keeps its newest crashes", () =>
  withState(async (host, state) => {
    for (let minute = 0; minute < KEPT_PER_VM + 2; minute++) {
      await writeCrashNote(host, state, noteOf("vm-a", minute));
    }
    await writeCrashNote(host, state, noteOf("vm-b", 0));
    await Deno.mkdir(`${state.crashes}/op-01`);
    const removed = await pruneCrashes(host, state);
    assert.deepEqual(
      removed.sort(),
      [noteOf("vm-a", 0), noteOf("vm-a", 1)].map((note) => crashFolder(state, note)),
    );
    assert.equal((await readCrashNotes(host, state)).length, KEPT_PER_VM + 1);
    assert.ok(Deno.statSync(`${state.crashes}/op-01`).isDirectory, "what operations kept is theirs");
  }));

Deno.test("together they stay below a bound, which the newest one alone may pass", () =>
  withState(async (host, state) => {
    const notes = [noteOf("vm-a", 1), noteOf("vm-b", 2), noteOf("vm-c", 3)];
    for (const note of notes) await writeCrashNote(host, state, note);
    const [oldest, middle, newest] = notes.map((note) => crashFolder(state, note));
    const { files } = host;
    const stat = files.stat.bind(files);
    files.stat = async (path, options) => {
      const facts = await stat(path, options);
      return facts === undefined || !path.startsWith(newest ?? "")
        ? facts
        : { ...facts, allocated_bytes: 21 * GIB };
    };
    assert.deepEqual(await pruneCrashes(host, state), [middle, oldest]);
  }));
