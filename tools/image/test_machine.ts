import { isRecord, JsonLines } from "./json_lines.ts";

/** What a program in the guest left: its output and its exit code, or the signal that ended it. */
export interface GuestResult {
  stdout: string;
  stderr: string;
  code: number | undefined;
}

/** How to start a machine: `kernel` is a file name in the image folder, `extra` are further QEMU arguments. */
export interface MachineOptions {
  image: string;
  kernel: "vmlinux" | "vmlinuz";
  append?: string;
  nic?: boolean;
  extra?: string[];
}

/** The tiny guest in plain QEMU under TCG, driven over QMP and the guest agent. For checks of the image only. */
export class TestMachine {
  readonly folder: string;
  readonly startedAt: number;
  readonly #process: Deno.ChildProcess;
  readonly #monitor: JsonLines;
  readonly #agent: JsonLines;
  readonly #events: Record<string, unknown>[] = [];
  readonly #answers: Record<string, unknown>[] = [];
  #wake: () => void = () => {};
  #over = false;

  private constructor(
    folder: string,
    startedAt: number,
    process: Deno.ChildProcess,
    monitor: JsonLines,
    agent: JsonLines,
  ) {
    this.folder = folder;
    this.startedAt = startedAt;
    this.#process = process;
    this.#monitor = monitor;
    this.#agent = agent;
    this.#pump();
  }

  /** Starts QEMU; the guest boots from then on. */
  static async start(options: MachineOptions): Promise<TestMachine> {
    const folder = await Deno.makeTempDir({ prefix: "tiny-check-" });
    const append = options.append ?? (await Deno.readTextFile(`${options.image}/append`)).trim();
    const nic = ["-netdev", "user,id=n0,hostfwd=tcp:127.0.0.1:0-:22", "-device", "virtio-net-pci,netdev=n0"];
    const startedAt = performance.now();
    const process = new Deno.Command("qemu-system-x86_64", {
      args: [
        ..."-accel tcg -M q35 -m 256 -nodefaults -no-user-config -display none -vga std".split(" "),
        ...["-kernel", `${options.image}/${options.kernel}`, "-initrd", `${options.image}/initrd`],
        ...["-append", append, "-action", "panic=pause", "-device", "pvpanic-pci"],
        ...[
          "-chardev",
          `socket,id=qga,path=${folder}/qga,server=on,wait=off`,
          "-device",
          "virtio-serial-pci",
        ],
        ...["-device", "virtserialport,chardev=qga,name=org.qemu.guest_agent.0"],
        ...["-chardev", `socket,id=data,path=${folder}/data,server=on,wait=off`],
        ...["-device", "virtserialport,chardev=data,name=hvlab.data.0"],
        ...["-device", "pcie-root-port,id=port0,chassis=1", "-device", "pcie-root-port,id=port1,chassis=2"],
        ...["-serial", `file:${folder}/serial`, "-qmp", `unix:${folder}/qmp,server=on,wait=off`],
        ...(options.nic ?? true ? nic : []),
        ...(options.extra ?? []),
      ],
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    const monitor = await JsonLines.open(`${folder}/qmp`, 10_000);
    const agent = await JsonLines.open(`${folder}/qga`, 10_000);
    const machine = new TestMachine(folder, startedAt, process, monitor, agent);
    await machine.command("qmp_capabilities");
    return machine;
  }

  /** Waits for the agent's first answer; returns the milliseconds since the start of QEMU. */
  async waitForAgent(limitMs = 60_000): Promise<number> {
    const id = Math.floor(Math.random() * 2 ** 31);
    await this.#agent.send({ execute: "guest-sync-delimited", arguments: { id } }, new Uint8Array([255]));
    const end = performance.now() + limitMs;
    while (performance.now() < end) {
      const answer = await within(this.#agent.receive(), end, "the agent's first answer");
      if (answer?.return === id) return performance.now() - this.startedAt;
    }
    throw new Error(`the agent did not answer within ${limitMs} ms`);
  }

  /** Sends one agent command; returns what it answers. */
  async ask(command: string, options: Record<string, unknown> = {}): Promise<unknown> {
    await this.#agent.send({ execute: command, arguments: options });
    const answer = await within(this.#agent.receive(), performance.now() + 30_000, command);
    if (answer === undefined || "error" in answer) throw new Error(`${command}: ${JSON.stringify(answer)}`);
    return answer.return;
  }

  /** Sends an agent command that has no answer, as guest-shutdown. */
  async tell(command: string, options: Record<string, unknown> = {}): Promise<void> {
    await this.#agent.send({ execute: command, arguments: options });
  }

  /** Runs a program in the guest through the agent and waits for its end. */
  async run(path: string, ...args: string[]): Promise<GuestResult> {
    const started = await this.ask("guest-exec", { path, arg: args, "capture-output": true });
    const pid = isRecord(started) ? started.pid : undefined;
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      const status = await this.ask("guest-exec-status", { pid });
      if (isRecord(status) && status.exited === true) {
        return {
          stdout: decode(status["out-data"]),
          stderr: decode(status["err-data"]),
          code: typeof status.exitcode === "number" ? status.exitcode : undefined,
        };
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error(`'${path}' did not end in the guest`);
  }

  /** Runs a line of shell in the guest; returns its output, stderr included, without the last line break. */
  async shell(line: string): Promise<string> {
    const result = await this.run("sh", "-c", line);
    return (result.stdout + result.stderr).trimEnd();
  }

  /** Sends one monitor command; returns what it answers. */
  async command(execute: string, options: Record<string, unknown> = {}): Promise<unknown> {
    await this.#monitor.send({ execute, arguments: options });
    const answer = await this.#take(this.#answers, () => true, 30_000, execute);
    if ("error" in answer) throw new Error(`${execute}: ${JSON.stringify(answer.error)}`);
    return answer.return;
  }

  /** Waits for a monitor event of this name. */
  waitForEvent(name: string, limitMs = 20_000): Promise<Record<string, unknown>> {
    return this.#take(this.#events, (event) => event.event === name, limitMs, name);
  }

  /** Waits until `test` holds for the text of the serial line; returns the text. */
  async waitForSerial(test: (text: string) => boolean, limitMs = 20_000): Promise<string> {
    const end = performance.now() + limitMs;
    while (true) {
      const text = await Deno.readTextFile(`${this.folder}/serial`);
      if (test(text)) return text;
      if (performance.now() > end) {
        throw new Error(`the serial line shows only: ${JSON.stringify(text.slice(-2000))}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits for QEMU's own end; throws after `limitMs` milliseconds. Returns its exit code. */
  async waitForEnd(limitMs = 20_000): Promise<number> {
    const status = await within(this.#process.status, performance.now() + limitMs, "the end of QEMU");
    this.#over = true;
    return status.code;
  }

  /** Ends QEMU if it still runs and removes its files. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over) this.#process.kill("SIGKILL");
    await this.#process.status;
    this.#monitor.close();
    this.#agent.close();
    await Deno.remove(this.folder, { recursive: true });
  }

  async #pump(): Promise<void> {
    for (let message = await this.#monitor.receive(); message; message = await this.#monitor.receive()) {
      if ("event" in message) this.#events.push(message);
      else if (!("QMP" in message)) this.#answers.push(message);
      this.#wake();
    }
  }

  async #take(
    queue: Record<string, unknown>[],
    test: (message: Record<string, unknown>) => boolean,
    limitMs: number,
    what: string,
  ): Promise<Record<string, unknown>> {
    const end = performance.now() + limitMs;
    while (true) {
      const found = queue.findIndex(test);
      const [message] = found < 0 ? [] : queue.splice(found, 1);
      if (message) return message;
      await within(new Promise<void>((resolve) => this.#wake = resolve), end, what);
    }
  }
}

function decode(base64: unknown): string {
  if (typeof base64 !== "string") return "";
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}

async function within<T>(promise: Promise<T>, end: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`waited too long for ${what}`)),
      Math.max(0, end - performance.now()),
    );
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
