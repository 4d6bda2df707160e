/** hvlab as a person runs it, with a state folder of its own and a tiny guest that is up. */

import assert from "node:assert/strict";
import { parseJson } from "../../src/base/json.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { seeKeeper } from "../../src/state/keeper_mark.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { findTinyImage } from "./tiny_image.ts";

const LAUNCHER = new URL("../../tools/hvlab", import.meta.url).pathname;

/** What a call came to. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Calls of hvlab on one state folder; disposing of it powers the VM off, and removes the folder behind its keeper. */
export class GuestProgram implements AsyncDisposable {
  readonly folder: string;
  /** All that it has printed. */
  readonly printed: string[] = [];
  readonly #vm: string;
  readonly #variables: Record<string, string>;

  constructor(folder: string, vm: string, variables: Record<string, string>) {
    this.folder = folder;
    this.#vm = vm;
    this.#variables = variables;
  }

  async run(...words: string[]): Promise<Ran> {
    const { code, stdout, stderr } = await this.#command(words, "piped").output();
    const decoder = new TextDecoder();
    const ran = { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    this.printed.push(ran.stdout, ran.stderr);
    return ran;
  }

  /** A call that goes on by itself. */
  start(...words: string[]): Deno.ChildProcess {
    return this.#command(words, "null").spawn();
  }

  /** The object that a command answers with `--json`, which must succeed. */
  async json(...words: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.run(...beforeRest(words, "--json"));
    assert.equal(code, 0, `${words.join(" ")}: ${stderr}${stdout}`);
    return objectIn(stdout);
  }

  /** The code of the failure that a command answers. */
  async failure(...words: string[]): Promise<unknown> {
    const { stdout } = await this.run(...beforeRest(words, "--json"));
    const { error, code } = objectIn(stdout);
    return typeof error === "object" && error !== null && "code" in error ? error.code : code;
  }

  /** A keeper that nobody needs any more ends by itself, and writes into the folder before. */
  async #keeperEnded(): Promise<void> {
    const host = openDenoHost();
    const state = new StateFolder(`${this.folder}/state`);
    for (;;) {
      const { alive, wanted } = await seeKeeper(host, state);
      if (!alive && !wanted) return;
      await host.clock.sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("vm", "stop", this.#vm, "--mode", "off");
    await this.#keeperEnded();
    await Deno.remove(this.folder, { recursive: true });
  }

  #command(args: string[], output: "piped" | "null"): Deno.Command {
    const env = {
      HVLAB_STATE: `${this.folder}/state`,
      XDG_RUNTIME_DIR: `${this.folder}/run`,
      XDG_CONFIG_HOME: `${this.folder}/config`,
      ...this.#variables,
    };
    return new Deno.Command(LAUNCHER, {
      args,
      cwd: this.folder,
      env,
      stdin: "null",
      stdout: output,
      stderr: output,
    });
  }
}

/** The tiny guest, which takes its own password over SSH, as a VM of this name whose agent answers. */
export async function openGuestProgram(
  vm: string,
  variables: Record<string, string> = {},
  memory = "256M",
): Promise<GuestProgram> {
  const image = findTinyImage();
  assert.ok(image?.kernel !== undefined && image.fast_kernel !== undefined && image.initrd !== undefined);
  const program = new GuestProgram(await Deno.makeTempDir(), vm, variables);
  try {
    await program.json(
      ...["image", "import", "tiny", "--kernel", image.kernel, "--fast-kernel", image.fast_kernel],
      ...["--initrd", image.initrd, `--append=${image.append ?? ""}`],
    );
    await program.json(
      ...["vm", "create", vm, "--image", "tiny", "--memory", memory, "--append", "tiny.ssh_password"],
    );
    await program.json("vm", "start", vm, "--until", "heartbeat");
    return program;
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
}

function beforeRest(words: readonly string[], flag: string): string[] {
  const at = words.indexOf("--");
  return at < 0 ? [...words, flag] : [...words.slice(0, at), flag, ...words.slice(at)];
}

/** The one object that a call printed. */
export function objectIn(text: string): Record<string, unknown> {
  const value = parseJson(text);
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), text);
  return value;
}
