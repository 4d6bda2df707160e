/** Reading what the collectors of POSIX guests print, and running them in the shell of this machine. */

import assert from "node:assert/strict";
import type { ProgramRunner } from "../../../src/guest/channel.ts";
import { readEvent } from "../../../src/guest/posix/events.ts";
import { readInfo } from "../../../src/guest/posix/info.ts";
import { POSIX_INSPECTION } from "../../../src/guest/posix/inspection.ts";
import { splitParts } from "../../../src/guest/posix/parts.ts";
import { readProcesses } from "../../../src/guest/posix/processes.ts";
import { readServices } from "../../../src/guest/posix/services.ts";
import { failureOf } from "../../support/failures.ts";

const { signal } = new AbortController();

/** This machine as a guest. */
const HERE: ProgramRunner = {
  async exec({ argv: [program = "", ...args], env = {} }, sinks) {
    const output = await new Deno.Command(program, { args, env, stdin: "null" }).output();
    await sinks.stdout(output.stdout);
    await sinks.stderr(output.stderr);
    return { exit_code: output.code, signal: null };
  },
};
const notHere = Deno.build.os !== "linux";

Deno.test({
  name: "a Linux tells what it is",
  ignore: notHere,
  async fn() {
    const { clock_ms, clock_step_ms, host_name, kernel, cpus, boot_time } = await POSIX_INSPECTION.info(
      HERE,
      signal,
    );
    assert.ok(Math.abs(clock_ms - Date.now()) < 60_000);
    assert.equal(clock_step_ms, 1);
    assert.deepEqual([host_name, kernel, cpus], [
      Deno.hostname(),
      `Linux ${Deno.osRelease()}`,
      navigator.hardwareConcurrency,
    ]);
    assert.ok(Date.parse(boot_time ?? "") < clock_ms);
  },
});

Deno.test({
  name: "a process shows with its words as they are, and the collector does not",
  ignore: notHere,
  async fn() {
    const words = ["-c", "read line", "a (b) c\nPPid:\t1", "", "é"];
    const child = new Deno.Command("/bin/sh", { args: words, stdin: "piped" }).spawn();
    try {
      const { items } = await POSIX_INSPECTION.processes(HERE, signal);
      const found = items.find(({ pid }) => pid === child.pid);
      assert.deepEqual([found?.parent_pid, found?.name, found?.command_line], [
        Deno.pid,
        "sh",
        `/bin/sh ${words.join(" ")}`,
      ]);
      assert.ok(Math.abs(Date.parse(found?.started_at ?? "") - Date.now()) < 60_000);
      assert.ok(!items.some(({ command_line: line }) => line?.includes("cmdline")), "the collector's own");
    } finally {
      await child.stdin.close();
      await child.status;
    }
  },
});

Deno.test("no process speaks for another, and its name may hold anything", () => {
  const text = `x
M clock
btime 1000
100

M users
root:x:0:0::/:/bin/sh

M status
/proc/7/status:Name:\ta) S 1\\n/proc/8/status:Name:
/proc/7/status:State:\tS (sleeping)
/proc/7/status:PPid:\t1
/proc/7/status:Uid:\t0\t0\t0\t0
/proc/7/status:VmRSS:\t     512 kB
/proc/7/status:Threads:\t2
/proc/12/status:Name:\tgone
/proc/12/status:Uid:\t5\t5\t5\t5

M stat
/proc/7/stat:7 (a) S 1
/proc/7/stat:/proc/8) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 2 0 12345 0

M words
/proc/7/cmdline:one\0/proc/7/cmdline:\0/proc/7/cmdline:two\n/proc/8/cmdline:x\0`;
  const processes = readProcesses(splitParts(text, "M"), "M-none");
  assert.deepEqual(processes, [
    {
      pid: 7,
      parent_pid: 1,
      name: "a) S 1\\n/proc/8/status:Name:",
      command_line: "one  two\n/proc/8/cmdline:x",
      owner: "root",
      state: "sleeping",
      started_at: "1970-01-01T00:18:43.450Z",
      cpu_ms: 2000,
      memory_bytes: 524_288,
      threads: 2,
    },
    { pid: 12, name: "gone", owner: "5" },
  ]);
});

Deno.test("what a guest says of itself is read with its units", () => {
  const text = `
M clock
1700000000 5

M release
PRETTY_NAME="A \\"quoted\\" Linux"
VERSION_ID=3.20

M kernel
Linux
6.1
x86_64
box

M memory
MemTotal:       1024 kB

M cards
eth0 52:54:00:00:00:01

M addresses
2: eth0    inet 10.0.2.15/24 brd 10.0.2.255 scope global eth0
2: eth0    inet6 fe80::1/64 scope link

M disks
vda 2048 1 A model
sr0 0 0

M mounts
/dev/vda1 /mnt/a\\040b ext4 rw 0 0

M volumes
Filesystem 1024-blocks Used Available Capacity Mounted on
/dev/vda1 100 40 60 40% /mnt/a b
proc 0 0 0 - /proc
`;
  const facts = readInfo(splitParts(text, "M"));
  assert.deepEqual([facts.os, facts.os_version, facts.clock_ms, facts.clock_step_ms], [
    'A "quoted" Linux',
    "3.20",
    1_700_000_000_000,
    1000,
  ]);
  assert.deepEqual([facts.memory_bytes, facts.cpus, facts.boot_time], [1_048_576, undefined, undefined]);
  assert.deepEqual(facts.nics[0]?.addresses, ["10.0.2.15/24", "fe80::1/64"]);
  assert.deepEqual(facts.disks, [{ name: "vda", model: "A model", size_bytes: 1_048_576, read_only: true }]);
  assert.deepEqual(facts.volumes, [
    { path: "/mnt/a b", device: "/dev/vda1", file_system: "ext4", size_bytes: 102_400, free_bytes: 61_440 },
  ]);
});

Deno.test("units of systemd have our states, and failed ones their reason", () => {
  const block = (fields: Record<string, string>): string =>
    Object.entries(fields).map(([name, value]) => `${name}=${value}\n`).join("");
  const services = readServices(
    [
      block({
        Id: "ssh.service",
        LoadState: "loaded",
        ActiveState: "active",
        SubState: "running",
        MainPID: "9",
      }),
      block({
        Id: "once.service",
        LoadState: "loaded",
        ActiveState: "active",
        SubState: "exited",
        MainPID: "0",
      }),
      block({
        ...{ Id: "bad.service", Description: "a=b", LoadState: "loaded", ActiveState: "failed" },
        ...{ SubState: "failed", Result: "exit-code", ExecMainStatus: "3", UnitFileState: "enabled" },
      }),
      block({ Id: "none.service", LoadState: "not-found", ActiveState: "inactive", SubState: "dead" }),
    ].join("\n"),
  );
  assert.deepEqual(services, [
    {
      ...{ name: "bad", description: "a=b", state: "failed", detail: "failed (failed)", start: "enabled" },
      ...{ exit_code: 3, reason: "exit-code" },
    },
    { name: "once", state: "exited", detail: "active (exited)" },
    { name: "ssh", state: "running", detail: "active (running)", pid: 9 },
  ]);
});

Deno.test("entries of the journal may be bytes, long or broken", () => {
  const entry = {
    __REALTIME_TIMESTAMP: "1700000000123456",
    PRIORITY: "3",
    SYSLOG_IDENTIFIER: "a",
    _PID: "7",
  };
  const read = (more: object) => readEvent(JSON.stringify({ ...entry, ...more }))[0];
  assert.deepEqual(read({ MESSAGE: [0xc3, 0xa9, 0x1b], _SYSTEMD_UNIT: "a.service" }), {
    time: "2023-11-14T22:13:20.123Z",
    level: "error",
    source: "a",
    message: "é\u001b",
    pid: 7,
    unit: "a.service",
  });
  assert.deepEqual([read({ MESSAGE: "x".repeat(5000) })?.message.length, read({ MESSAGE: null })?.message], [
    4000,
    "",
  ]);
  assert.deepEqual(readEvent('{"__REALTIME_TIMESTAMP": "17'), []);
  assert.deepEqual(readEvent("{}"), []);
});

Deno.test("a guest without systemd is unsupported, and one that fails says why", async () => {
  const answering = (code: number, stdout: string, stderr: string): ProgramRunner => ({
    async exec(_, sinks) {
      await sinks.stdout(new TextEncoder().encode(stdout));
      await sinks.stderr(new TextEncoder().encode(stderr));
      return { exit_code: code, signal: null };
    },
  });
  const missing = await failureOf(
    "hv.unsupported",
    () => POSIX_INSPECTION.services(answering(3, "it is not there\n", ""), signal),
  );
  assert.equal(missing.context.missing, "it is not there");
  await failureOf("hv.job_failed", () => POSIX_INSPECTION.services(answering(1, "", "no bus"), signal));
  const wish = { since_s: 60, level: "debug", source: undefined, text: "x", limit: 5 } as const;
  const events = (stderr: string) => POSIX_INSPECTION.events(answering(0, "", stderr), wish, signal);
  assert.deepEqual(await events("journalctl ended with 1\n"), { items: [], truncated: false });
  const failure = await failureOf("hv.job_failed", () => events("No access\njournalctl ended with 1\n"));
  assert.match(failure.message, /No access/);
});
