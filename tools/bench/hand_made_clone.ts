/** A clone of a template as somebody would start it by hand: QEMU, its monitor, its agent, nothing else. */

import { isRecord, JsonLines } from "../image/json_lines.ts";

const LIMIT_MS = 20_000;
const LOOK_AGAIN_MS = 1;

/** A running clone; disposing of it kills it. */
export interface HandClone extends AsyncDisposable {
  readonly pid: number;
}

/** Starts clones with the argument vector of a sandbox. */
export class HandMade {
  readonly #program: string;
  readonly #args: readonly string[];
  readonly #folders: readonly string[];
  readonly #state: string;

  private constructor(program: string, args: string[], folders: readonly string[], state: string) {
    this.#program = program;
    this.#args = args;
    this.#folders = folders;
    this.#state = state;
  }

  /** Takes the vector of a running sandbox; its own files, which lie in `folders`, are put elsewhere. */
  static async of(pid: number, state: string, folders: readonly string[]): Promise<HandMade> {
    const words = (await Deno.readTextFile(`/proc/${pid}/cmdline`)).split("\0").slice(0, -1);
    const [program = "", ...args] = words;
    const pidFile = args[args.indexOf("-pidfile") + 1] ?? "";
    return new HandMade(program, args, [pidFile.slice(0, pidFile.lastIndexOf("/")), ...folders], state);
  }

  /** Starts one and runs `true` in it. */
  async startAndRun(): Promise<HandClone> {
    const folder = await Deno.makeTempDir({ prefix: "hand-" });
    const args = this.#args.map((arg) =>
      this.#folders.reduce((text, old) => text.replaceAll(old, folder), arg)
    );
    const qemu = new Deno.Command(this.#program, { args, stdin: "null", stdout: "null", stderr: "inherit" })
      .spawn();
    const clone: HandClone = {
      pid: qemu.pid,
      async [Symbol.asyncDispose]() {
        qemu.kill("SIGKILL");
        await qemu.status;
        await Deno.remove(folder, { recursive: true });
      },
    };
    try {
      await this.#restoreAndRun(folder);
      return clone;
    } catch (error) {
      await clone[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #restoreAndRun(folder: string): Promise<void> {
    const monitor = await connect(`${folder}/calls.qmp`);
    await monitor.receive();
    await ask(monitor, "qmp_capabilities");
    const agent = await connect(`${folder}/agent`);
    await agent.send({ execute: "guest-sync-delimited", arguments: { id: 1 } }, Uint8Array.of(0xff));
    const capabilities = [{ capability: "x-ignore-shared", state: true }];
    await ask(monitor, "migrate-set-capabilities", { capabilities });
    await ask(monitor, "migrate-incoming", { uri: `unix:${folder}/devices` });
    const devices = await Deno.connect({ transport: "unix", path: `${folder}/devices` });
    const state = await Deno.readFile(this.#state);
    for (let sent = 0; sent < state.length;) sent += await devices.write(state.subarray(sent));
    devices.close();
    for (;;) {
      const answer = await agent.receive();
      if (answer === undefined) throw new Error("QEMU ended before the agent answered");
      if (answer.return === 1) break;
    }
    await runTrue(agent);
    agent.close();
    monitor.close();
  }
}

async function connect(path: string): Promise<JsonLines> {
  const end = performance.now() + LIMIT_MS;
  while (await Deno.stat(path).then(() => false, () => true)) {
    if (performance.now() > end) throw new Error(`"${path}" did not appear`);
    await pause();
  }
  return await JsonLines.open(path, LIMIT_MS);
}

async function runTrue(agent: JsonLines): Promise<void> {
  const started = await ask(agent, "guest-exec", { path: "/bin/true", "capture-output": true });
  const pid = isRecord(started) ? started.pid : undefined;
  for (;;) {
    const status = await ask(agent, "guest-exec-status", { pid });
    if (isRecord(status) && status.exited === true) return;
    await pause();
  }
}

async function ask(link: JsonLines, command: string, args?: Record<string, unknown>): Promise<unknown> {
  await link.send({ execute: command, ...(args === undefined ? {} : { arguments: args }) });
  for (;;) {
    const answer = await link.receive();
    if (answer === undefined) throw new Error(`the link ended before "${command}" was answered`);
    if (answer.error !== undefined) throw new Error(`"${command}" failed: ${JSON.stringify(answer.error)}`);
    if ("return" in answer) return answer.return;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
}
