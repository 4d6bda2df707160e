/** A guest made of a few programs and a map of files. */

import { HvError } from "../../src/base/errors.ts";
import type { ByteFeed, ByteSink, GuestChannel, GuestCommand, GuestExit } from "../../src/guest/channel.ts";

type Program = (
  args: readonly string[],
  sinks: { stdout: ByteSink; stderr: ByteSink },
  signal: AbortSignal,
) => Promise<GuestExit>;

const encoder = new TextEncoder();

/** The scripts that its shell understands: `echo OUT; echo ERR >&2; exit CODE`, the echoes left out at will. */
const SCRIPT = /^(?:echo (\w+); )?(?:echo (\w+) >&2; )?exit (\d+)$/;

export class MemoryGuest implements GuestChannel {
  readonly name = "memory";
  readonly family = "posix";
  readonly files = new Map<string, Uint8Array>();

  ping(): Promise<void> {
    return Promise.resolve();
  }

  async exec(
    { argv: [program = "", ...args] }: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    signal: AbortSignal,
  ): Promise<GuestExit> {
    const run = this.#programs.get(program);
    if (run === undefined) {
      throw new HvError("hv.not_found", `There is no program "${program}" in the guest`, {
        context: { program },
      });
    }
    return await run(args, sinks, signal);
  }

  async writeFile(path: string, feed: ByteFeed, { overwrite }: { overwrite: boolean }): Promise<void> {
    if (this.files.has(path) && !overwrite) {
      throw new HvError("hv.conflict", `"${path}" exists in the guest`, {
        hint: "Give --overwrite",
        context: { wanted: "absent", found: "present" },
      });
    }
    const parts: Uint8Array[] = [];
    for (let part = await feed(); part !== null; part = await feed()) parts.push(part);
    this.files.set(path, new Uint8Array(parts.flatMap((part) => [...part])));
  }

  async readFile(path: string, sink: ByteSink): Promise<void> {
    const bytes = this.files.get(path);
    if (bytes === undefined) {
      throw new HvError("hv.not_found", `There is no file "${path}" in the guest`, { context: { path } });
    }
    await sink(bytes);
  }

  removeFile(path: string): Promise<void> {
    this.files.delete(path);
    return Promise.resolve();
  }

  temporaryFolder(): Promise<string> {
    return Promise.resolve("/tmp");
  }

  close(): void {}

  readonly #programs = new Map<string, Program>([
    ["true", () => exit(0)],
    ["false", () => exit(1)],
    ["sh", async ([, script = ""], sinks) => {
      const [, out, err, code] = SCRIPT.exec(script) ?? [];
      if (out !== undefined) await sinks.stdout(encoder.encode(`${out}\n`));
      if (err !== undefined) await sinks.stderr(encoder.encode(`${err}\n`));
      return await exit(Number(code ?? "2"));
    }],
    ["cat", async ([path = ""], { stdout, stderr }) => {
      const bytes = this.files.get(path);
      if (bytes === undefined) {
        await stderr(encoder.encode(`cat: ${path}: no such file\n`));
        return await exit(1);
      }
      await stdout(bytes);
      return await exit(0);
    }],
    ["touch", ([path = ""]) => {
      this.files.set(path, this.files.get(path) ?? new Uint8Array());
      return exit(0);
    }],
    ["ls", async ([path = ""], { stdout, stderr }) => {
      const isThere = this.files.has(path);
      await (isThere ? stdout(encoder.encode(`${path}\n`)) : stderr(encoder.encode(`ls: ${path}\n`)));
      return await exit(isThere ? 0 : 1);
    }],
    ["echo", async (args, { stdout }) => {
      await stdout(encoder.encode(`${args.join(" ")}\n`));
      return await exit(0);
    }],
    ["printf", async ([, ...args], { stdout }) => {
      await stdout(encoder.encode(args.map((arg) => `[${arg}]`).join("")));
      return await exit(0);
    }],
    ["sleep", (_, __, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      })],
  ]);
}

function exit(code: number): Promise<GuestExit> {
  return Promise.resolve({ exit_code: code, signal: null });
}
