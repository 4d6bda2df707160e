/** Connections to one guest that commands share, since logging in takes longer than most commands. */

import { joinPath } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";
import { SSH } from "./client.ts";

/** A connection to use alone for a while; given back when disposed. */
export interface Place extends Disposable {
  /** The name of the connection's socket in the SSH folder. */
  control: string;
  /** Whether somebody has used it before; the guest may have been exchanged since. */
  isUsed: boolean;
  /** Nobody answers there any more: it is not used again, nor are those that nobody uses now. */
  abandon(): Promise<void>;
  /** The login is over: the next one may begin. */
  stands(): void;
}

/**
 * Hands out places. Commands share a connection one after another and never at once: dropbear 2022 loses sessions when
 * several of one connection end together (seen with 50 commands). The first `ssh` on a connection makes it, one at a
 * time, since servers refuse many logins at once. A connection ends by itself soon after its last use.
 */
export class Connections {
  readonly #host: Host;
  readonly #folder: string;
  readonly #prefix = `c-${crypto.randomUUID().slice(0, 8)}`;
  /** Which connections are in use. */
  readonly #used: ("free" | "taken" | "dead")[] = [];
  #login: Promise<void> = Promise.resolve();

  constructor(host: Host, folder: string) {
    this.#host = host;
    this.#folder = folder;
  }

  /** The first connection that is free. */
  async take(signal: AbortSignal): Promise<Place> {
    const before = this.#login;
    const turn = Promise.withResolvers<void>();
    this.#login = turn.promise;
    try {
      await before;
      signal.throwIfAborted();
      return await this.#place(turn.resolve);
    } catch (error) {
      turn.resolve();
      throw error;
    }
  }

  /** Ends every connection that lingers; one that is gone already is no failure. */
  async close(): Promise<void> {
    for (const index of this.#used.keys()) {
      await this.#end(this.#nameOf(index));
    }
  }

  async #end(control: string): Promise<void> {
    if (!await this.#stands(control)) return;
    const words = ["-F", "none", "-o", `ControlPath=${control}`, "-O", "exit", "-q", "guest"];
    await this.#host.processes.run(SSH, words, { cwd: this.#folder });
  }

  async #place(stands: () => void): Promise<Place> {
    const free = this.#used.indexOf("free");
    const index = free < 0 ? this.#used.length : free;
    const control = this.#nameOf(index);
    this.#used[index] = "taken";
    const isUsed = await this.#stands(control);
    if (isUsed) stands();
    return {
      control,
      isUsed,
      stands,
      abandon: async () => {
        this.#used[index] = "dead";
        const idle = [...this.#used.keys()].filter((other) =>
          other === index || this.#used[other] === "free"
        );
        for (const other of idle) this.#used[other] = "dead";
        await Promise.all(idle.map((other) => this.#end(this.#nameOf(other))));
      },
      [Symbol.dispose]: () => {
        stands();
        if (this.#used[index] === "taken") this.#used[index] = "free";
      },
    };
  }

  async #stands(control: string): Promise<boolean> {
    return await this.#host.files.stat(joinPath(this.#folder, control)) !== undefined;
  }

  #nameOf(index: number): string {
    return `${this.#prefix}-${index}`;
  }
}
