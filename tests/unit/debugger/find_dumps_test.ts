import assert from "node:assert/strict";
import type { Clock } from "../../../src/base/clock.ts";
import { HvError } from "../../../src/base/errors.ts";
import { DumpFindResult } from "../../../src/contract/dump_find.ts";
import { placeOf, usualDumpPlaces } from "../../../src/debugger/dump_places.ts";
import { dumpListText, findDumps, noPlaceExists, refuseNoPlace } from "../../../src/debugger/find_dumps.ts";
import { DumpBytes, kernelHeader64, minidump, systemInfoStream } from "../../support/dump_writer.ts";
import { type MemoryEntry, MemoryFiles } from "../../support/memory_files.ts";

/** A clock on which nothing takes time; it keeps the waits that were asked for. */
class StillClock implements Clock {
  readonly waits: number[] = [];
  onSleep: () => void = () => {};
  now(): number {
    return 0;
  }
  monotonic(): number {
    return 0;
  }
  sleep(milliseconds: number): Promise<void> {
    this.waits.push(milliseconds);
    this.onSleep();
    return Promise.resolve();
  }
}

const ticks = (iso: string): bigint => BigInt(Date.parse(iso)) * 10_000n + 116_444_736_000_000_000n;

function kernelDump(time: string, modified = 0): MemoryEntry {
  return { bytes: kernelHeader64(3).u64(0xFA8, ticks(time)).bytes, modified };
}

async function find(
  entries: Record<string, MemoryEntry>,
  options: { limit?: number; maximumFiles?: number } = {},
): Promise<DumpFindResult> {
  const result = await findDumps(new MemoryFiles(entries), new StillClock(), {
    places: [placeOf("/d")],
    ...options,
  });
  assert.deepEqual(DumpFindResult.parse(result), result);
  return result;
}

const NOTES: MemoryEntry = { bytes: new TextEncoder().encode("only some notes") };

Deno.test("dumps are listed newest first, by the header's time where there is one", async () => {
  const undated = kernelHeader64(3).text(0xFA8, "PAGEPAGE").bytes;
  const result = await find({
    "/d/old.dmp": kernelDump("2020-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:00Z")),
    "/d/sub/new.dmp": kernelDump("2024-01-01T00:00:00Z"),
    "/d/undated.dmp": { bytes: undated, modified: Date.parse("2022-01-01T00:00:00Z") },
    "/d/app.dmp": { bytes: minidump([systemInfoStream()]).bytes },
  });
  assert.deepEqual(result.dumps.map(({ path, time, time_source }) => [path, time, time_source]), [
    ["/d/sub/new.dmp", "2024-01-01T00:00:00Z", "header"],
    ["/d/app.dmp", "2023-11-14T22:13:20Z", "header"],
    ["/d/undated.dmp", "2022-01-01T00:00:00.000Z", "file"],
    ["/d/old.dmp", "2020-01-01T00:00:00Z", "header"],
  ]);
  const [newest, user] = result.dumps;
  assert.equal(newest?.bugcheck_code, "0x000000d1");
  assert.equal(newest?.dump_kind, "header_only");
  assert.equal(newest?.exception_code, undefined);
  assert.equal(user?.bugcheck_code, null);
  assert.equal(user?.exception_code, null);
  assert.equal(result.found, 4);
  assert.equal(result.skipped, 0);
});

Deno.test("every skip has a path and a reason, and is counted", async () => {
  const refused = new HvError("hv.permission", "Cannot list /d/secret");
  const result = await find({
    "/d/a.dmp": kernelDump("2020-01-01T00:00:00Z"),
    "/d/bad.dmp": { bytes: minidump([systemInfoStream()]).u32(12, 1).bytes },
    "/d/device": { other: true },
    "/d/disk": { failure: new HvError("hv.io", "Cannot read") },
    "/d/empty.dmp": { bytes: new Uint8Array(0) },
    "/d/notes.txt": NOTES,
    "/d/secret": { failure: refused },
    "/d/short.dmp": { bytes: kernelHeader64(1).bytes.slice(0, 20) },
    "/d/swapped.dmp": { bytes: new DumpBytes(64).text(0, "EGAP46UD").bytes },
    "/d/zero.dmp": { bytes: kernelHeader64(1).u32(4, 0).bytes },
  });
  assert.deepEqual(result.skipped_paths.map(({ path, reason }) => [path, reason]), [
    ["/d/bad.dmp", "damaged"],
    ["/d/device", "not_a_dump"],
    ["/d/disk", "io_error"],
    ["/d/empty.dmp", "empty"],
    ["/d/notes.txt", "not_a_dump"],
    ["/d/secret", "permission"],
    ["/d/short.dmp", "too_short"],
    ["/d/swapped.dmp", "not_a_dump"],
    ["/d/zero.dmp", "being_written"],
  ]);
  assert.equal(result.skipped, 9);
  assert.deepEqual(result.skipped_by_reason, {
    damaged: 1,
    not_a_dump: 3,
    io_error: 1,
    empty: 1,
    permission: 1,
    too_short: 1,
    being_written: 1,
  });
  assert.equal(result.found, 1);
});

Deno.test("links are followed once, loops end, and the real path is preferred", async () => {
  const result = await find({
    "/d/again": { link: "/d" },
    "/d/copy.dmp": { link: "/d/z/real.dmp" },
    "/d/dangling": { link: "/nowhere" },
    "/d/elsewhere": { link: "/e" },
    "/d/z/real.dmp": kernelDump("2020-01-01T00:00:00Z"),
    "/d/z/up": { link: "/d" },
    "/e/far.dmp": kernelDump("2021-01-01T00:00:00Z"),
    "/e/back": { link: "/d/z" },
  });
  assert.deepEqual(result.dumps.map(({ path }) => path), ["/d/elsewhere/far.dmp", "/d/z/real.dmp"]);
  assert.deepEqual(result.skipped_paths.map(({ path, reason }) => [path, reason]), [
    ["/d/again", "duplicate"],
    ["/d/copy.dmp", "duplicate"],
    ["/d/dangling", "io_error"],
    ["/d/elsewhere/back", "duplicate"],
    ["/d/z/up", "duplicate"],
  ]);
});

Deno.test("limits of depth and count are skips, never silence", async () => {
  const deep = `/d/${"x/".repeat(10)}deep.dmp`;
  const tooDeep = await find({ [deep]: kernelDump("2020-01-01T00:00:00Z") });
  assert.equal(tooDeep.found, 0);
  assert.deepEqual(tooDeep.skipped_by_reason, { limit: 1 });
  const many = await find({
    "/d/a.dmp": kernelDump("2020-01-01T00:00:00Z"),
    "/d/b.dmp": kernelDump("2021-01-01T00:00:00Z"),
    "/d/c/d.dmp": kernelDump("2022-01-01T00:00:00Z"),
  }, { maximumFiles: 1 });
  assert.equal(many.found, 1);
  assert.deepEqual(many.skipped_paths.map(({ path }) => path), ["/d/b.dmp", "/d/c"]);
  const listed = await find({
    "/d/a.dmp": kernelDump("2020-01-01T00:00:00Z"),
    "/d/b.dmp": kernelDump("2021-01-01T00:00:00Z"),
  }, { limit: 1 });
  assert.deepEqual(listed.dumps.map(({ path }) => path), ["/d/b.dmp"]);
  assert.equal(listed.found, 2);
  assert.equal(listed.truncated, true);
});

Deno.test("a named folder must exist, a usual place need not", async () => {
  await assert.rejects(find({ "/e/a.dmp": NOTES }), (thrown: unknown) => {
    return thrown instanceof HvError && thrown.code === "hv.not_found";
  });
  const none = await findDumps(new MemoryFiles({}), new StillClock(), {
    places: usualDumpPlaces("linux", () => undefined),
  });
  assert.equal(none.found, 0);
  assert.deepEqual(none.folders, []);
});

Deno.test("a named file is searched like a folder of one", async () => {
  const files = new MemoryFiles({ "/d": kernelDump("2020-01-01T00:00:00Z") });
  const result = await findDumps(files, new StillClock(), { places: [placeOf("/d"), placeOf("/d")] });
  assert.deepEqual(result.dumps.map(({ path }) => path), ["/d"]);
});

Deno.test("usual places look at dump names only", async () => {
  const places = usualDumpPlaces("windows", (name) => name === "SystemRoot" ? "/w" : undefined);
  const files = new MemoryFiles({
    "/w/MEMORY.DMP": kernelDump("2020-01-01T00:00:00Z"),
    "/w/Minidump/010120-1-01.dmp": kernelDump("2020-01-02T00:00:00Z"),
    "/w/Minidump/readme.txt": NOTES,
    "/w/LiveKernelReports/NDIS/x.dmp": kernelDump("2020-01-03T00:00:00Z"),
    "/w/LiveKernelReports/a/b/deep.dmp": kernelDump("2020-01-04T00:00:00Z"),
    "/w/system.ini": NOTES,
  });
  const result = await findDumps(files, new StillClock(), { places });
  assert.deepEqual(result.dumps.map(({ path }) => path), [
    "/w/LiveKernelReports/NDIS/x.dmp",
    "/w/Minidump/010120-1-01.dmp",
    "/w/MEMORY.DMP",
  ]);
  assert.equal(result.skipped, 0);
  assert.deepEqual(result.folders, ["/w/MEMORY.DMP", "/w/Minidump", "/w/LiveKernelReports"]);
});

Deno.test("an ended search says why", async () => {
  const reason = new HvError("hv.cancelled", "Cancelled");
  const signal = AbortSignal.abort(reason);
  const files = new MemoryFiles({ "/d/a.dmp": NOTES });
  await assert.rejects(
    findDumps(files, new StillClock(), { places: [placeOf("/d")], signal }),
    (thrown: unknown) => thrown === reason,
  );
});

Deno.test("a person reads a line for each dump and each file that cannot be read, and counts of the rest", async () => {
  const result = await find({
    "/d/new.dmp": kernelDump("2024-01-01T00:00:00Z"),
    "/d/cut.dmp": { bytes: kernelHeader64(3).bytes.slice(0, 6) },
    "/d/notes.txt": NOTES,
    "/d/more.txt": NOTES,
  });
  const lines = dumpListText(result).split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? "", /^2024-01-01T00:00:00Z {2}.* {2}\/d\/new\.dmp/);
  assert.match(lines[1] ?? "", /^\/d\/cut\.dmp {2}not read \(too_short\): /);
  assert.match(lines[2] ?? "", /^1 dump; passed over: .*2 not_a_dump/);
  assert.equal(
    dumpListText(await find({ "/d/sub/new.dmp": kernelDump("2024-01-01T00:00:00Z") })).split("\n")[1],
    "1 dump",
  );
  const forged = "/d/a\nb\u202E.dmp";
  const told = dumpListText(await find({ [forged]: kernelDump("2024-01-01T00:00:00Z") })).split("\n");
  assert.equal(told.length, 2);
  assert.match(told[0] ?? "", /\/d\/a\\x0ab\\u\{202e\}\.dmp/);
  assert.match(dumpListText(await find({ "/d/notes.txt": NOTES })), /^0 dumps; passed over: 1 not_a_dump$/);
});

Deno.test("a search without any place to look in says so", async () => {
  assert.throws(() => refuseNoPlace("darwin", usualDumpPlaces("darwin", () => undefined)), (error) => {
    assert.ok(error instanceof HvError);
    assert.equal(error.code, "hv.usage");
    assert.match(error.hint ?? "", /Name a folder/);
    return true;
  });
  const places = usualDumpPlaces("linux", () => undefined);
  refuseNoPlace("linux", places);
  const search = (entries: Record<string, MemoryEntry>): Promise<DumpFindResult> =>
    findDumps(new MemoryFiles(entries), new StillClock(), { places });
  assert.match(noPlaceExists(places, await search({})) ?? "", /"\/var\/crash"/);
  assert.equal(noPlaceExists(places, await search({ "/var/crash/notes.txt": NOTES })), undefined);
});
