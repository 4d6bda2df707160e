/** The channels into a real guest, booted here by plain QEMU: all of them keep the same promises. */

import assert from "node:assert/strict";
import { startDeadline, timeoutError } from "../../src/base/deadline.ts";
import { joinPath } from "../../src/base/paths.ts";
import { openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import type { ByteSink, GuestChannel, GuestCommand } from "../../src/guest/channel.ts";
import { openSshChannel, type SshAddress } from "../../src/guest/ssh/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";
import { failureOf } from "../support/failures.ts";
import { findTinyImage, type PlainMachine, startPlainMachine } from "../support/plain_qemu.ts";
import { hasProgram } from "../support/tiny_image.ts";
import { channelBehaviours, type ChannelLab, HANG_MS, type Seen } from "./channel_behaviours.ts";
import { folderBehaviours } from "./folder_behaviours.ts";

const image = findTinyImage();
const LONE_EXEC = new URL("../support/lone_exec.ts", import.meta.url).pathname;
const LONE_DEATH = new URL("../support/lone_death.ts", import.meta.url).pathname;
const LONE_SSH_EXEC = new URL("../support/lone_ssh_exec.ts", import.meta.url).pathname;
/** Names that have broken other programs stand in the path of keys and sockets. */
const ODD_FOLDER = "a,b =c%20d 'é";

Deno.test({
  name: "the agent channel on a real guest",
  ignore: image === undefined,
  fn: async (test) => {
    await using machine = await startPlainMachine(image ?? "");
    const host = openDenoHost();
    const channel = openAgent(host, machine);
    const lab = labOf(host, channel);
    const { run } = lab;
    using boot = startDeadline(host.clock, HANG_MS);
    await channel.ping(boot.signal);
    const handles = await countHandles(lab);
    for (const [name, behave] of Object.entries(channelBehaviours)) await test.step(name, () => behave(lab));
    await copyFolders(test, lab);
    await test.step("the next call ends what a killed one left", async () => {
      await killOnceBegun(LONE_EXEC, machine.agent, "echo begun; sleep 307 & sleep 308");
      assert.equal((await run("ps -o args | grep -c '[s]leep 30[78]'")).stdout, "0\n");
      const folder = machine.agent.slice(0, machine.agent.lastIndexOf("/"));
      const traces = Array.from(Deno.readDirSync(folder)).filter(({ name }) => name.includes(".trace-"));
      assert.deepEqual(traces, []);
    });
    await test.step("the next call ends what never began, and closes what a copy had open", async () => {
      await dieOnceSent(machine.agent, "guest-exec");
      await dieOnceSent(machine.agent, "guest-file-write");
      assert.equal((await run("grep -l '[h]v_go' /proc/[0-9]*/cmdline | wc -l")).stdout, "0\n");
      await run("rm /tmp/death.hvlab-*");
    });
    await test.step("no handle stays open, no file and no process stays behind", async () => {
      assert.equal(await countHandles(lab), handles);
      assert.equal((await run("ls -A /tmp")).stdout, "");
      assert.equal((await run("ps -o args | grep -c '[s]leep 30[0-9]'")).stdout, "0\n");
    });
    await test.step("two processes at once both proceed", async () => {
      const second = openAgent({ ...host }, machine);
      await showOverlap(host, channel, second);
      second.close();
    });
    await test.step("a killed machine leaves the outcome unknown", () => killUnder(lab, machine));
    channel.close();
  },
});

Deno.test({
  name: "the SSH channel on a real guest",
  ignore: image === undefined || !hasProgram("ssh"),
  fn: async (test) => {
    await using machine = await startPlainMachine(image ?? "");
    const host = openDenoHost();
    const sponsor = openAgent(host, machine);
    const address: SshAddress = {
      host,
      folder: joinPath(machine.folder, ODD_FOLDER, "ssh"),
      alias: "tiny",
      login: { user: "root" },
      password: () => Promise.resolve(undefined),
      sponsor,
      reach: () =>
        Promise.resolve({
          address: "127.0.0.1",
          port: machine.sshPort,
          [Symbol.asyncDispose]: () => Promise.resolve(),
        }),
    };
    await using channel = openSshChannel(address);
    const lab = labOf(host, channel);
    const { run } = lab;
    using boot = startDeadline(host.clock, HANG_MS);
    await test.step("a guest that boots is waited for, and takes the key from its agent", async () => {
      await channel.ping(boot.signal);
      const known = await Deno.readTextFile(joinPath(address.folder, "known_hosts"));
      assert.match(known, /^tiny ssh-ed25519 \S+$/m);
      const { mode } = await Deno.stat(joinPath(address.folder, "id_ed25519"));
      assert.equal((mode ?? 0) & 0o777, 0o600);
    });
    for (const [name, behave] of Object.entries(channelBehaviours)) await test.step(name, () => behave(lab));
    await copyFolders(test, lab);
    await test.step("fifty commands at once all come back, each with its own", async () => {
      const words = Array.from({ length: 50 }, (_, index) => String(index));
      const results = await Promise.all(words.map((word) => run({ argv: ["echo", word] })));
      assert.deepEqual(results.map(({ stdout }) => stdout), words.map((word) => `${word}\n`));
    });
    await test.step("a program ends with all that it started when its caller is killed", async () => {
      const script = "trap '' TERM HUP; sleep 307 & setsid sleep 308 & echo begun; sleep 309";
      await killOnceBegun(LONE_SSH_EXEC, String(machine.sshPort), address.folder, script);
      await untilGone(labOf(host, sponsor), "[s]leep 30[789]");
      assert.equal((await run("echo next")).stdout, "next\n");
    });
    await test.step("a shared connection that has gone silent is given up before anything begins", async () => {
      await labOf(host, sponsor).run(SILENCE_CONNECTIONS);
      assert.equal((await run("echo once >>/tmp/count; cat /tmp/count; rm /tmp/count")).stdout, "once\n");
      await labOf(host, sponsor).run(END_SILENT);
    });
    await test.step("a guest that has forgotten the key, and has another of its own, is introduced anew", async () => {
      await using other = openSshChannel(address);
      await labOf(host, sponsor).run(FORGET_ALL);
      assert.equal((await labOf(host, other).run("echo known again")).stdout, "known again\n");
    });
    await test.step("without the agent another host key is another machine", async () => {
      const { sponsor: _, ...alone } = address;
      const pinned = joinPath(address.folder, "known_hosts");
      const text = await Deno.readTextFile(pinned);
      await Deno.writeTextFile(pinned, text.replace(/AAAA\S+/, WRONG_KEY));
      await using other = openSshChannel(alone);
      await failureOf("hv.guest_identity", () => labOf(host, other).run("true"));
      await Deno.writeTextFile(pinned, text);
    });
    await test.step("a refused password is said, and no key opens in its place", async () => {
      const login = { user: "root", password: { kind: "variable", name: "X" } } as const;
      await using other = openSshChannel({ ...address, login, password: () => Promise.resolve("wrong one") });
      const failure = await failureOf("hv.guest_auth", () => labOf(host, other).run("true"));
      assert.doesNotMatch(JSON.stringify(failure.toEnvelope()), /wrong one/);
    });
    await test.step("nobody of that name is refused", async () => {
      await using other = openSshChannel({ ...address, login: { user: "nonesuch" } });
      await failureOf("hv.guest_auth", () => labOf(host, other).run("true"));
    });
    await test.step("a terminal whose connection breaks gives no program's exit code", async () => {
      const limit = AbortSignal.timeout(HANG_MS);
      const attach = (...argv: string[]) =>
        channel.attach?.({ argv }, limit) ?? assert.fail("it has no terminals");
      assert.deepEqual(await attach("sh", "-c", "exit 255"), { exit_code: 255, signal: null });
      const breaking = failureOf("hv.outcome_unknown", () => attach("sleep", "306"));
      const watched = labOf(host, sponsor);
      await watched.run("until ps -o args | grep -q '[s]leep 306'; do usleep 50000; done");
      await watched.run(END_CONNECTIONS);
      assert.match((await breaking).message, /^The connection to the guest broke: .*closed/);
    });
    await test.step("no file and no process stays behind", async () => {
      assert.equal((await run("ls -A /tmp")).stdout, "");
      assert.equal((await run("ps -o args | grep -c '[s]leep 30[0-9]'")).stdout, "0\n");
    });
    await test.step("two processes at once both proceed", async () => {
      await using second = openSshChannel({ ...address });
      await showOverlap(host, channel, second);
    });
    await test.step("a killed machine leaves the outcome unknown", () => killUnder(lab, machine));
    await test.step("a machine that is gone is not ready", async () => {
      await failureOf("hv.guest_not_ready", () => run("true"));
    });
    sponsor.close();
  },
});

/** Stops the servers of open connections, as if the guest had been exchanged for one that knows nothing of them. */
const SILENCE_CONNECTIONS = `
for pid in $(pidof dropbear); do
  read -r _ _ _ parent _ </proc/$pid/stat
  [ "$parent" = 1 ] || kill -STOP "$pid"
done
`;

const END_CONNECTIONS = `
for pid in $(pidof dropbear); do
  read -r _ _ _ parent _ </proc/$pid/stat
  [ "$parent" = 1 ] || kill -KILL "$pid"
done
`;

const END_SILENT = `
for pid in $(pidof dropbear); do
  read -r _ _ state _ </proc/$pid/stat
  [ "$state" != T ] || kill -KILL "$pid"
done
`;

/** As a restored guest has forgotten what was put into it later, and one made anew has other keys. */
const FORGET_ALL = `
rm -rf /root/.ssh /etc/dropbear/host_key
for pid in $(pidof dropbear); do kill "$pid"; done
until [ -s /etc/dropbear/host_key ] && cat /proc/net/tcp* | grep -q ':0016 [0-9A-F]*:0000 0A'; do usleep 50000; done
`;

/** An ed25519 key of nobody. */
const WRONG_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJg0GtB2XWzhP0AWSXcTDZP2i4dEUm1YzHrVqnv6Jm0A";

/** Folders over the same channel, in a folder of the guest that is gone afterwards. */
async function copyFolders(test: Deno.TestContext, lab: ChannelLab): Promise<void> {
  for (const [name, behave] of Object.entries(folderBehaviours)) {
    await lab.run("mkdir /tmp/folders");
    await test.step(name, () => behave({ ...lab, place: "/tmp/folders" }));
    await lab.run("rm -r /tmp/folders");
  }
}

function openAgent(host: Host, machine: PlainMachine): GuestChannel {
  return openAgentChannel({
    host,
    socket: machine.agent,
    lock: `${machine.agent}.lock`,
    isCrashed: () => Promise.resolve(undefined),
  });
}

function labOf(host: Host, channel: GuestChannel): ChannelLab {
  const { clock } = host;
  return {
    host,
    channel,
    async run(command) {
      using limit = startDeadline(clock, HANG_MS);
      return await runInGuest(channel, commandOf(command), { signal: limit.signal, clock });
    },
    async runUntil(command, isSeen) {
      using limit = startDeadline(clock, HANG_MS);
      const seen: Seen = { stdout: "", stderr: "" };
      let isOver = false;
      const sinkOf = (stream: keyof Seen): ByteSink => (bytes) => {
        seen[stream] += new TextDecoder().decode(bytes);
        if (!isOver && isSeen(seen)) {
          isOver = true;
          limit.end(timeoutError(HANG_MS));
        }
        return Promise.resolve();
      };
      const sinks = { stdout: sinkOf("stdout"), stderr: sinkOf("stderr") };
      const { signal } = limit;
      const failure = await failureOf(
        "hv.timeout",
        () => runInGuest(channel, commandOf(command), { signal, clock, sinks }),
      );
      assert.ok(isOver, JSON.stringify(failure.toEnvelope()));
      return failure;
    },
  };
}

function commandOf(command: GuestCommand | string): GuestCommand {
  return typeof command === "string" ? { argv: ["sh", "-c", command] } : command;
}

async function showOverlap(host: Host, one: GuestChannel, other: GuestChannel): Promise<void> {
  const script = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done";
  const count = async (channel: GuestChannel): Promise<string> =>
    (await labOf(host, channel).run(script)).stdout;
  assert.deepEqual(await Promise.all([count(one), count(other)]), Array(2).fill("1\n2\n3\n4\n5\n6\n7\n8\n"));
}

/** Starts a program of ours, waits until what it runs in the guest says "begun", and kills it. */
async function killOnceBegun(...words: string[]): Promise<void> {
  const killed = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", ...words],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = killed.stdout.getReader();
  let seen = "";
  while (seen !== "begun\n") {
    const { value, done } = await reader.read();
    assert.ok(!done, `the process ended after "${seen}"`);
    seen += new TextDecoder().decode(value);
  }
  killed.kill("SIGKILL");
  await killed.status;
  await reader.cancel();
}

/** Has a program of ours die as soon as it has sent a request. */
async function dieOnceSent(agent: string, request: string): Promise<void> {
  const args = ["run", "-A", "--no-check", LONE_DEATH, agent, request];
  const { signal } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
  assert.equal(signal, "SIGKILL");
}

/** Waits until no process of the guest has such arguments; nobody says when. */
async function untilGone({ run, host }: ChannelLab, pattern: string): Promise<void> {
  const limit = AbortSignal.timeout(HANG_MS);
  while ((await run(`ps -o args | grep -c '${pattern}'`)).stdout !== "0\n") {
    await host.clock.sleep(200, limit);
  }
}

async function killUnder({ channel }: ChannelLab, machine: PlainMachine): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const sinks = { stdout: () => Promise.resolve(begun.resolve()), stderr: () => Promise.resolve() };
  const command = { argv: ["sh", "-c", "echo begun; sleep 300"] };
  const running = channel.exec(command, sinks, AbortSignal.timeout(HANG_MS));
  await Promise.race([begun.promise, running]);
  machine.process.kill("SIGKILL");
  await failureOf("hv.outcome_unknown", () => running);
}

async function countHandles({ run }: ChannelLab): Promise<number> {
  const { stdout } = await run("ls /proc/$(pidof qemu-ga)/fd | wc -l");
  return Number(stdout);
}
