/** Environment variables and the platform's usual folders. */

import { isAbsolutePath, joinPath } from "../base/paths.ts";
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
    return joinPath(this.#folder("XDG_CONFIG_HOME") ?? joinPath(this.#home(), ".config"), "hvlab");
  }

  stateFolder(): string {
    if (this.#os === "windows") return joinPath(this.#require("LOCALAPPDATA"), "hvlab");
    if (this.#os === "darwin") {
      return joinPath(this.#home(), "Library", "Application Support", "hvlab", "state");
    }
    return joinPath(this.#folder("XDG_STATE_HOME") ?? joinPath(this.#home(), ".local", "state"), "hvlab");
  }

  runtimeFolder(): string {
    const own = this.#folder("XDG_RUNTIME_DIR");
    if (own !== undefined && own.length < 50) return joinPath(own, "hvlab");
    return `/tmp/hvlab-${Deno.uid() ?? 0}`;
  }

  #home(): string {
    return this.#require("HOME");
  }

  /**
   * A folder that a variable names. A relative one counts for nothing, as the XDG rules have it: it would lead into
   * whatever folder the program was started in.
   */
  #folder(name: string): string | undefined {
    const value = this.get(name);
    return value !== undefined && isAbsolutePath(value) ? value : undefined;
  }

  #require(name: string): string {
    const value = this.#folder(name);
    if (value !== undefined) return value;
    const wrong = this.get(name) === undefined ? "is not set" : "does not hold a full path";
    throw new HvError("hv.unavailable", `The environment variable "${name}" ${wrong}`, {
      hint: `Set ${name}, or name the folders with HVLAB_STATE and --config`,
      context: { variable: name },
      retryable: false,
    });
  }
}
