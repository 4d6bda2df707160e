/**
 * 256 MiB into a guest that is up: hvlab as a whole process, with SHA-256 on both sides, beside the ways by hand that have none.
 * A second guest of the same kind serves these: the file as a raw disk that is plugged in and read with `dd`, and `cat` over SSH.
 */

import { joinPath } from "../../src/base/paths.ts";
import { openAgentChannel } from "../../src/drivers/qemu/agent/channel.ts";
import type { GuestChannel } from "../../src/guest/channel.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { openGuestProgram } from "../../tests/support/guest_program.ts";
import { findTinyImage, type PlainMachine, startPlainMachine } from "../../tests/support/plain_qemu.ts";
import { JsonLines } from "../image/json_lines.ts";
import { measureSideBySide, type Row } from "./report.ts";
import { openTinySsh } from "./tiny_ssh.ts";

const FILE_BYTES = 256 * 1024 * 1024;
const PART_BYTES = 64 * 1024;
const MEMORY_MB = 1024;
const ROUNDS = 3;
const LIMIT_MS = 600_000;
/** What 80 % of a transport's rate is, as a ratio of times. */
const TARGET = 1.25;

/** Measures with one copy at a time; answers no rows where there is no image of the tiny guest. */
export async function measureGuestCopies(): Promise<Row[]> {
  const image = findTinyImage();
  if (image === undefined) return [];
  await using program = await openGuestProgram("web", {}, `${MEMORY_MB}M`);
  await using machine = await startPlainMachine(image, MEMORY_MB);
  const host = openDenoHost();
  const lock = `${machine.agent}.lock`;
  const agent = openAgentChannel({
    host,
    socket: machine.agent,
    lock,
    isCrashed: () => Promise.resolve(undefined),
  });
  await agent.ping(AbortSignal.timeout(LIMIT_MS));
  const file = joinPath(program.folder, "file");
  await writeRandom(file);
  const copy = async (): Promise<number> => {
    const start = performance.now();
    const { code, stderr } = await program.run("guest", "copy-to", "web", file, "/tmp/copy");
    if (code !== 0) throw new Error(stderr);
    const time = performance.now() - start;
    await program.run("guest", "exec", "web", "--", "rm", "/tmp/copy");
    return time;
  };
  const ssh = await openSsh(machine, agent);
  const ways = [
    copy,
    () => timed(agent, () => byDisk(machine, agent, file, "")),
    () => timed(agent, () => byDisk(machine, agent, file, "; sha256sum /tmp/copy")),
    () => timed(agent, () => ssh(file)),
  ];
  const [ours = NaN, disk = NaN, checked = NaN, secure = NaN] = await measureSideBySide(ways, ROUNDS, 1);
  agent.close();
  return [
    { what: "as a raw disk by hand, read with dd", value: disk },
    { what: "the same and sha256sum in the guest", value: checked },
    { what: "cat over ssh by hand", value: secure },
    { what: "guest copy-to, beside dd alone", value: ours, baseline: disk, target: TARGET },
    { what: "guest copy-to, beside dd and sha256sum", value: ours, baseline: checked, target: TARGET },
    { what: "guest copy-to, beside ssh", value: ours, baseline: secure, target: TARGET },
  ];
}

/** Plugs the file in, has the guest read it, and takes it out; only what leads to the file counts. */
async function byDisk(machine: PlainMachine, agent: GuestChannel, file: string, then: string): Promise<void> {
  const monitor = await JsonLines.open(machine.monitor, LIMIT_MS);
  const tell = async (execute: string, args: Record<string, unknown> = {}): Promise<void> => {
    await monitor.send({ execute, arguments: args });
    for (
      let answer = await monitor.receive();
      answer?.return === undefined;
      answer = await monitor.receive()
    ) {
      if (answer === undefined || answer.error !== undefined) throw new Error(JSON.stringify(answer));
    }
  };
  await tell("qmp_capabilities");
  const source = { driver: "file", filename: file };
  await tell("blockdev-add", { driver: "raw", "node-name": "lent", "read-only": true, file: source });
  await tell("device_add", { driver: "virtio-blk-pci", id: "lent", bus: "spare", drive: "lent" });
  const read = "until [ -b /dev/vda ]; do usleep 10000; done; dd if=/dev/vda of=/tmp/copy bs=1048576";
  await run(agent, read + then);
  await tell("device_del", { id: "lent" });
  await run(agent, "while [ -b /dev/vda ]; do usleep 10000; done");
  await tell("blockdev-del", { "node-name": "lent" });
  monitor.close();
}

/** A shared connection that is open already. */
async function openSsh(
  machine: PlainMachine,
  sponsor: GuestChannel,
): Promise<(file: string) => Promise<void>> {
  const { channel, folder, words } = await openTinySsh(machine, sponsor, LIMIT_MS);
  await channel[Symbol.asyncDispose]();
  return async (file) => {
    const child = new Deno.Command("ssh", {
      args: ["-T", ...words, "cat >/tmp/copy"],
      cwd: folder,
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    using source = await Deno.open(file);
    await source.readable.pipeTo(child.stdin);
    if (!(await child.status).success) throw new Error("ssh failed");
  };
}

async function timed(agent: GuestChannel, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  await run(agent, "rm /tmp/copy");
  return time;
}

async function run(agent: GuestChannel, script: string): Promise<void> {
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  const argv = ["sh", "-c", script];
  const { exit_code } = await agent.exec({ argv }, nothing, AbortSignal.timeout(LIMIT_MS));
  if (exit_code !== 0) throw new Error(`"${script}" ended with ${exit_code}`);
}

async function writeRandom(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  const part = new Uint8Array(PART_BYTES);
  for (let at = 0; at < FILE_BYTES; at += PART_BYTES) await file.write(crypto.getRandomValues(part));
}
