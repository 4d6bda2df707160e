/** Environment variables and the platform's usual folders. */

import { joinPath } from "../base/paths.ts";
import { HvError } from "../base/errors.ts";
import type { OperatingSystem } from "./operating_system.ts";

export interface Environment {
  /** The variable's value; `undefined` when it is not set or empty. */
  get(name: string): string | undefined;
  /** Where this platform keeps a program's configuration: the folder that holds `hvlab.yaml`. */
  configFolder(): string;
  /** Where this platform keeps a program's state. */
  stateFolder(): string;
  /** A folder for sockets, private to this user and short enough for a unix socket path (107 bytes). */
  runtimeFolder(): string;
}

export class DenoEnvironment implements Environment {
  readonly #os: OperatingSystem;

  constructor(os: OperatingSystem) {
    this.#os = os;
  }

  get(name: string): string | undefined {
    try {
      return Deno.env.get(name) || undefined;
    } catch (error) {
      throw new HvError("hv.permission", `Cannot read the environment variable "${name}"`, {
        hint: "Use a variable whose name begins with HVLAB_",
        context: { variable: name },
        cause: error,
      });
    }
  }

  configFolder(): string {
    if (this.#os === "windows") return joinPath(this.#require("APPDATA"), "hvlab");
    if (this.#os === "darwin") return joinPath(this.#home(), "Library", "Application Support", "hvlab");
    return joinPath(this.get("XDG_CONFIG_HOME") ?? joinPath(this.#home(), ".config"), "hvlab");
  }

  stateFolder(): string {
    if (this.#os === "windows") return joinPath(this.#require("LOCALAPPDATA"), "hvlab");
    if (this.#os === "darwin") {
      return joinPath(this.#home(), "Library", "Application Support", "hvlab", "state");
    }
    return joinPath(this.get("XDG_STATE_HOME") ?? joinPath(this.#home(), ".local", "state"), "hvlab");
  }

  runtimeFolder(): string {
    const own = this.get("XDG_RUNTIME_DIR");
    if (own !== undefined && own.length < 50) return joinPath(own, "hvlab");
    return `/tmp/hvlab-${Deno.uid() ?? 0}`;
  }

  #home(): string {
    return this.#require("HOME");
  }

  #require(name: string): string {
    const value = this.get(name);
    if (value !== undefined) return value;
    throw new HvError("hv.unavailable", `The environment variable "${name}" is not set`, {
      hint: `Set ${name}, or name the folders with HVLAB_STATE and --config`,
      context: { variable: name },
      retryable: false,
    });
  }
}
