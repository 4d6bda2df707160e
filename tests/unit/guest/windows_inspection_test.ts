/** The collectors of Windows guests in real PowerShell, on what a Windows would give them. */

import assert from "node:assert/strict";
import { WINDOWS_INSPECTION } from "../../../src/guest/windows/inspection.ts";
import { fullPath, readRegistry } from "../../../src/guest/windows/registry.ts";
import { failureOf } from "../../support/failures.ts";
import { NO_WINDOWS_GUEST, openWindowsGuest } from "../../support/windows_guest/windows_guest.ts";

const guest = openWindowsGuest();
const { signal } = new AbortController();

function powerShellTest(promise: string, fn: () => Promise<void>): void {
  const skipped = NO_WINDOWS_GUEST === undefined ? "" : ` (skipped: ${NO_WINDOWS_GUEST})`;
  Deno.test({ name: `${promise}${skipped}`, ignore: NO_WINDOWS_GUEST !== undefined, fn });
}

powerShellTest("a Windows guest says what it is, and what it does not tell", async () => {
  const { clock_ms, clock_step_ms, ...facts } = await WINDOWS_INSPECTION.info(guest, signal);
  assert.ok(Math.abs(clock_ms - Date.now()) < 60_000, "the clock of this machine");
  assert.equal(clock_step_ms, 1);
  assert.deepEqual(facts, {
    os: "Microsoft Windows Server 2022 Standard",
    os_version: "10.0.20348",
    kernel: "Windows NT 10.0.20348",
    architecture: "64-bit",
    host_name: "WIN-É",
    boot_time: "2026-11-29T10:00:00.500Z",
    cpus: 4,
    memory_bytes: 4_293_971_968,
    memory_available_bytes: 2_048_000_000,
    nics: [
      {
        name: "Microsoft Hyper-V Network Adapter",
        mac: "00:15:5d:01:02:03",
        addresses: ["172.20.1.9/20", "fe80::1/64"],
      },
      { name: "Unplugged", mac: "00:15:5d:01:02:04", addresses: [] },
    ],
    disks: [],
    volumes: [{ path: "C:", file_system: "NTFS", size_bytes: 136_365_211_648, free_bytes: 99_999_997_952 }],
    missing: ["disks"],
  });
});

powerShellTest("processes of Windows come by pid, with times and sizes in our units", async () => {
  const { items } = await WINDOWS_INSPECTION.processes(guest, signal);
  assert.deepEqual(items.map(({ pid }) => pid), [0, 4, 700]);
  assert.deepEqual(items[2], {
    pid: 700,
    parent_pid: 4,
    name: "sshd.exe",
    command_line: '"C:\\Program Files\\OpenSSH\\sshd.exe" -D',
    started_at: "2026-11-29T10:00:09.000Z",
    cpu_ms: 3,
    memory_bytes: 9_000_000_000,
    threads: 3,
  });
  assert.equal(items[0]?.started_at, undefined);
});

powerShellTest("a service that never started has not failed, one with a code of its own has", async () => {
  const { items } = await WINDOWS_INSPECTION.services(guest, signal);
  assert.deepEqual(items.map(({ name, state, exit_code }) => [name, state, exit_code]), [
    ["AppMgmt", "stopped", undefined],
    ["broken", "failed", 0xc0000005],
    ["sshd", "running", undefined],
  ]);
  assert.deepEqual([items[2]?.pid, items[2]?.start], [700, "Auto"]);
});

powerShellTest("events of Windows come newest first, filtered and bounded", async () => {
  const all = { since_s: undefined, level: "debug", source: undefined, text: undefined, limit: 100 } as const;
  const { items } = await WINDOWS_INSPECTION.events(guest, { ...all, limit: 2 }, signal);
  assert.deepEqual(items.map(({ event_id }) => event_id), [7030, 7029, 7028]);
  assert.deepEqual(
    [items[0]?.message.length, items[0]?.message_truncated, items[0]?.level, items[0]?.log],
    [4000, true, "error", "System"],
  );
  const recent = await WINDOWS_INSPECTION.events(guest, { ...all, since_s: 330, level: "error" }, signal);
  assert.deepEqual(recent.items.map(({ event_id, level }) => [event_id, level]), [
    [7030, "error"],
    [7027, "error"],
    [7026, "critical"],
  ]);
  const own = await WINDOWS_INSPECTION.events(guest, { ...all, source: "volmgr", text: "NUMBER 1" }, signal);
  assert.deepEqual(own.items.map(({ event_id }) => event_id), [7010]);
  const none = await WINDOWS_INSPECTION.events(guest, { ...all, source: "nobody" }, signal);
  assert.deepEqual([none.items, none.truncated], [[], false]);
});

powerShellTest("registry values have their types, and texts are not expanded", async () => {
  const path = "HKLM\\SOFTWARE\\Test [1]";
  const key = await readRegistry(guest, { path, name: undefined, limit: 100 }, signal);
  assert.deepEqual(key.keys, ["A", "b", "c"]);
  assert.deepEqual(
    key.values.map(({ name, type, value }) => [name, type, value]).filter(([name]) => name !== "Long"),
    [
      ["", "REG_SZ", "the default"],
      ["Big", "REG_QWORD", "0xffffffffffffffff"],
      ["Flags", "REG_DWORD", 0xfffffffe],
      ["List", "REG_MULTI_SZ", ["one", ""]],
      ["Nothing", "REG_NONE", ""],
      ["Path", "REG_EXPAND_SZ", "%SystemRoot%\\é"],
      ["Raw", "REG_BINARY", "AP8="],
      ["Small", "REG_QWORD", 5],
    ],
  );
  const long = key.values.find(({ name }) => name === "Long");
  assert.deepEqual([String(long?.value).length, long?.dropped_bytes], [16_384, 7232]);
});

powerShellTest("registry keys that are missing, forbidden or cut are told apart", async () => {
  const read = (path: string, name?: string, limit = 100) =>
    readRegistry(guest, { path, name, limit }, signal);
  const key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Test [1]";
  const [, , , cut] = await Promise.all([
    failureOf("hv.not_found", () => read("HKLM:\\SOFTWARE\\None")),
    failureOf("hv.guest_denied", () => read("HKLM\\SAM\\SAM")),
    failureOf("hv.not_found", () => read(key, "nothing of this name")),
    read(key, undefined, 1),
  ]);
  assert.deepEqual([cut.keys, cut.values.length, cut.truncated], [["A"], 1, true]);
});

Deno.test("roots of the registry have several names, and a path without one is refused", () => {
  assert.equal(fullPath("hklm:\\A\\\\B\\"), "HKEY_LOCAL_MACHINE\\A\\B");
  assert.equal(fullPath("HKEY_USERS"), "HKEY_USERS");
  assert.throws(() => fullPath("C:\\Windows"), { code: "hv.usage" });
  assert.throws(() => fullPath("constructor\\x"), { code: "hv.usage" });
});
