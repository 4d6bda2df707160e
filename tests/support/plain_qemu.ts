/** A machine started by hand with QEMU alone: what a channel is tried on without a driver. */

import { joinPath } from "../../src/base/paths.ts";
import { QmpSession } from "../../src/drivers/qemu/monitor/qmp.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";

/** A running machine. */
export interface PlainMachine extends AsyncDisposable {
  /** The unix socket of its guest agent's port. */
  agent: string;
  /** Its monitor's socket. */
  monitor: string;
  /** The port of this host that leads to its SSH server. */
  sshPort: number;
  folder: string;
  process: Deno.ChildProcess;
}

/** The folder of a kernel-and-initrd image: `HVLAB_TINY`, else `dist/tiny` of the repository; `undefined` without one. */
export function findTinyImage(): string | undefined {
  const folders = [Deno.env.get("HVLAB_TINY"), new URL("../../dist/tiny", import.meta.url).pathname];
  return folders.find((folder) => folder !== undefined && isFile(joinPath(folder, "vmlinux")));
}

/** A machine's memory in MiB. */
const USUAL_MEMORY = 256;

/** Starts the image with an agent port, a monitor, and a free slot named `spare`. It ends with the test. */
export async function startPlainMachine(image: string, memory: number = USUAL_MEMORY): Promise<PlainMachine> {
  const folder = await Deno.makeTempDir({ prefix: "hvlab-plain-" });
  const agent = joinPath(folder, "agent");
  const monitor = joinPath(folder, "monitor");
  const process = new Deno.Command("qemu-system-x86_64", {
    args: [
      ...["-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", String(memory)],
      ...["-nodefaults", "-no-user-config"],
      ...["-display", "none", "-serial", `file:${joinPath(folder, "serial.log")}`],
      ...["-kernel", joinPath(image, "vmlinux"), "-initrd", joinPath(image, "initrd")],
      ...["-append", (await Deno.readTextFile(joinPath(image, "append"))).trim()],
      ...["-qmp", `unix:${monitor},server=on,wait=off`, "-device", "virtio-rng-pci"],
      ...["-device", "pcie-root-port,id=spare,chassis=1"],
      ...["-device", "virtio-serial-pci", "-chardev", `socket,id=agent,path=${agent},server=on,wait=off`],
      ...["-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"],
      ...[
        "-netdev",
        "user,id=net,hostfwd=tcp:127.0.0.1:0-:22",
        "-device",
        "virtio-net-pci,netdev=net,romfile=",
      ],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const end = async (): Promise<void> => {
    try {
      process.kill("SIGKILL");
    } catch {
      // A test has ended it already.
    }
    await process.status;
    await Deno.remove(folder, { recursive: true });
  };
  try {
    const sshPort = await forwardedPort(monitor);
    return { agent, monitor, sshPort, folder, process, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

const START_LIMIT_MS = 300_000;

/** The port that QEMU has taken for itself: one that is chosen for it may be another's by then. */
async function forwardedPort(monitor: string): Promise<number> {
  const { clock, sockets } = openDenoHost();
  const limit = AbortSignal.timeout(START_LIMIT_MS);
  let connection = await sockets.connectUnix(monitor);
  for (; connection === undefined; connection = await sockets.connectUnix(monitor)) {
    await clock.sleep(20, limit);
  }
  using session = await QmpSession.open(connection, clock, { greetingMs: START_LIMIT_MS });
  const words = await session.command("human-monitor-command", { "command-line": "info usernet" });
  const [, port] = /HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)/.exec(String(words)) ?? [];
  if (port === undefined) throw new Error(`QEMU forwards no port: ${words}`);
  return Number(port);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
