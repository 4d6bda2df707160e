/** A host whose QEMU runs inside a guest of this one; everything else of it is this very host. */

import { nameOf } from "../../src/base/paths.ts";
import type { Reach } from "../../src/drivers/network_abilities.ts";
import type { MonitorRole } from "../../src/drivers/qemu/runtime_folder.ts";
import type { ByteSink, GuestChannel } from "../../src/guest/channel.ts";
import type { Host } from "../../src/host/host.ts";
import type { ProcessFacts } from "../../src/host/process_table.ts";
import type { Processes } from "../../src/host/processes.ts";
import type { Connection } from "../../src/host/sockets.ts";
import type { ChildProcess, SpawnOptions } from "../../src/host/spawn.ts";

/** The guest's ports at which the machine's monitors can be reached from outside, beside their sockets in the guest. */
export const MONITOR_PORTS: Readonly<Record<MonitorRole, number>> = {
  keeper: 4001,
  calls: 4002,
  rescue: 4003,
};

const QEMU = "qemu-system-x86_64";
/** No process of this host has this number: Linux's highest is 4194304. */
const PID_ELSEWHERE = 5_000_000;
/** Arguments: the guest's folder that is QEMU's root folder, its log there, and its command line. */
const START = 'root=$1; log=$1$2; shift 2; exec chroot "$root" "$@" >> "$log" 2>&1';

export interface NestedOptions {
  channel: GuestChannel;
  /** The guest's folder that is the root folder of QEMU there; it has the state folder where this host has it. */
  root: string;
  /** The ways to the {@link MONITOR_PORTS}. */
  monitors: Readonly<Record<MonitorRole, Reach>>;
  /** Ends the program that runs in the guest, and waits for it. */
  signal: AbortSignal;
}

const ROLES: readonly MonitorRole[] = ["keeper", "calls", "rescue"];

/**
 * The host on which a driver's machines run inside the guest. One machine at a time: its monitors have one place each.
 */
export function nestedHost(real: Host, options: NestedOptions): Host {
  return {
    ...real,
    processes: new NestedProcesses(real, options),
    sockets: {
      ...real.sockets,
      connectUnix(path) {
        const role = ROLES.find((each) => nameOf(path) === `${each}.qmp`);
        if (role === undefined) return Promise.resolve(undefined);
        return connectMonitor(real, options.monitors[role], options.signal);
      },
    },
  };
}

/** The host's own processes, and the one that runs in the guest, which is seen as if it were among them. */
class NestedProcesses implements Processes {
  readonly #here: Processes;
  readonly #options: NestedOptions;
  #machine: { facts: ProcessFacts; kill: () => void } | undefined;

  constructor({ processes }: Host, options: NestedOptions) {
    this.#here = processes;
    this.#options = options;
  }

  /** Starts QEMU in the guest with exactly these words, and behind them what opens its monitors to the outside. */
  async start(program: string, args: readonly string[], spawn: SpawnOptions): Promise<ChildProcess> {
    if (program !== QEMU) return await this.#here.start(program, args, spawn);
    const { channel, root, signal } = this.#options;
    const open = ROLES.flatMap((role) => ["-qmp", `tcp:0.0.0.0:${MONITOR_PORTS[role]},server=on,wait=off`]);
    const argv = ["/bin/sh", "-c", START, "start", root, spawn.logFile, QEMU, ...args, ...open];
    const killing = new AbortController();
    const nowhere: ByteSink = () => Promise.resolve();
    const sinks = { stdout: nowhere, stderr: nowhere };
    const facts = {
      pid: PID_ELSEWHERE,
      started: new Date().toString().slice(0, "Mon Nov 30 2026 02:25:16".length),
      args: [QEMU, ...args].join(" "),
    };
    this.#machine = { facts, kill: () => killing.abort() };
    const ended = channel.exec({ argv }, sinks, AbortSignal.any([signal, killing.signal]))
      .then(({ exit_code }) => ({ code: exit_code, signal: null }), () => ({ code: null, signal: "SIGKILL" }))
      .finally(() => this.#machine = undefined);
    return { pid: PID_ELSEWHERE, ended, forget: () => {} };
  }

  async list(programName: string): Promise<ProcessFacts[]> {
    const here = await this.#here.list(programName);
    return programName === QEMU && this.#machine !== undefined ? [...here, this.#machine.facts] : here;
  }

  async describe(pid: number): Promise<ProcessFacts | undefined> {
    return pid === PID_ELSEWHERE ? this.#machine?.facts : await this.#here.describe(pid);
  }

  async isRunning(pid: number): Promise<boolean> {
    return pid === PID_ELSEWHERE ? this.#machine !== undefined : await this.#here.isRunning(pid);
  }

  async kill(pid: number, signal: "TERM" | "KILL"): Promise<boolean> {
    if (pid !== PID_ELSEWHERE) return await this.#here.kill(pid, signal);
    this.#machine?.kill();
    return this.#machine !== undefined;
  }

  run(...args: Parameters<Processes["run"]>): ReturnType<Processes["run"]> {
    return this.#here.run(...args);
  }

  open(...args: Parameters<Processes["open"]>): ReturnType<Processes["open"]> {
    return this.#here.open(...args);
  }

  attach(...args: Parameters<Processes["attach"]>): ReturnType<Processes["attach"]> {
    return this.#here.attach(...args);
  }

  find(program: string): Promise<string | undefined> {
    return this.#here.find(program);
  }
}

/** The guest's network takes every connection; only who greets is there. */
async function connectMonitor(
  { sockets }: Host,
  { address, port }: Reach,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  const connection = await sockets.connectTcp(address, port);
  if (connection === undefined) return undefined;
  const close = (): void => connection.close();
  signal.addEventListener("abort", close, { once: true });
  let greeting = await connection.read();
  signal.removeEventListener("abort", close);
  if (greeting === null) {
    close();
    return undefined;
  }
  return {
    async read() {
      const bytes = greeting ?? await connection.read();
      greeting = null;
      return bytes;
    },
    write: (bytes) => connection.write(bytes),
    close,
    [Symbol.dispose]: close,
  };
}
