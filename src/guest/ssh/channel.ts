/** SSH as a way into a guest: the host's OpenSSH client, a key for each VM, the guest's host key pinned. */

import { startDeadline } from "../../base/deadline.ts";
import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Host } from "../../host/host.ts";
import type {
  ByteFeed,
  ByteSink,
  GuestChannel,
  GuestCommand,
  GuestExit,
  TerminalCommand,
  WriteOptions,
} from "../channel.ts";
import type { GuestLogin } from "../login.ts";
import { checkCommand, checkUserName } from "../posix/check_command.ts";
import { withProgramEnd } from "../ended_program.ts";
import { END_TREE } from "../posix/end_tree.ts";
import {
  readFileByProgram,
  removeFileByProgram,
  TEMPORARY_FOLDER,
  writeFileByProgram,
} from "../posix/files.ts";
import {
  loginFailure,
  PASSWORD_VARIABLE,
  SSH,
  SSH_FAILURE,
  SSH_FILES,
  sshArguments,
  type SshTarget,
} from "./client.ts";
import { introduce, prepareSshFolder } from "./keys.ts";
import { Connections } from "./connections.ts";
import { RemoteProgram } from "./remote_program.ts";
import { terminalLine } from "./terminal_line.ts";

/** Where a guest's SSH server is, and what is kept about it on this host. */
export interface SshAddress {
  host: Host;
  /** Opens the way to the guest's port 22. Throws `hv.unsupported` when there is none. */
  reach: (signal: AbortSignal) => Promise<SshReach>;
  /** A private folder of this VM. */
  folder: string;
  /** The name under which the guest's host keys are pinned. */
  alias: string;
  login: GuestLogin;
  /** Reads the password; `undefined` for who logs in by key. */
  password: () => Promise<string | undefined>;
  /** Another way into the same guest, with privilege, which can put our key there and vouch for the guest's. */
  sponsor?: GuestChannel;
}

/** Where the guest's port is reached from here. Disposing gives the way back. */
export interface SshReach extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

/** Every login shell reads these words alike: they hold nothing that one of them treats apart. */
const READ_LINE = `exec /bin/sh -c 'IFS= read -r hv_line && eval "$hv_line"'`;

/** How long ending a program may take after the call that wanted it is over. */
const END_LIMIT_MS = 20_000;
/** An ssh whose program has ended ends too, unless children of that program hold the streams. */
const LEAVE_MS = 1_000;
const TRY_AGAIN_MS = 300;
/**
 * How long a connection that has served before may say nothing before it is given up: a guest that was brought back from
 * a checkpoint knows nothing of it, and its server would be waited for in vain.
 */
const ANSWER_LIMIT_MS = 6_000;

/** What a try came to: the program's end, or the failure of a login that left the guest as it was. */
type Attempt = { exit: GuestExit } | { refused: HvError };

/** Opens the channel; nothing is connected before the first call, and calls may overlap. */
export function openSshChannel(address: SshAddress): GuestChannel & AsyncDisposable {
  return new SshChannel(address);
}

class SshChannel implements GuestChannel, AsyncDisposable {
  readonly name = "ssh";
  readonly family = "posix";
  readonly #address: SshAddress;
  readonly #connections: Connections;
  /** Whether the sponsor has introduced us in this process. */
  #introduced = false;
  #pinned: boolean | undefined;
  #reached: Promise<SshReach> | undefined;

  constructor(address: SshAddress) {
    checkUserName(address.login.user);
    this.#address = address;
    this.#connections = new Connections(address.host, address.folder);
  }

  async ping(signal: AbortSignal): Promise<void> {
    const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
    for (;;) {
      try {
        await this.exec({ argv: ["/bin/sh", "-c", ":"] }, nothing, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof HvError) || error.code !== "hv.guest_not_ready") throw error;
        await this.#address.host.clock.sleep(TRY_AGAIN_MS, signal);
      }
    }
  }

  async exec(
    command: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    signal: AbortSignal,
  ): Promise<GuestExit> {
    checkCommand(command);
    const first = await this.#attempt(command, sinks, signal);
    if ("exit" in first) return first.exit;
    // Nothing has begun in the guest, so that it may be tried once more: over a new connection, or with a key put there.
    const isLost = first.refused.context.reason === "";
    if (!isLost && !await this.#introduceAfter(first.refused, signal)) throw first.refused;
    const second = await this.#attempt(command, sinks, signal);
    if ("exit" in second) return second.exit;
    throw second.refused;
  }

  writeFile(
    path: string,
    feed: ByteFeed,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    return writeFileByProgram(this, path, feed, options, signal);
  }

  readFile(path: string, sink: ByteSink, signal: AbortSignal): Promise<void> {
    return readFileByProgram(this, path, sink, signal);
  }

  removeFile(path: string, signal: AbortSignal): Promise<void> {
    return removeFileByProgram(this, path, signal);
  }

  temporaryFolder(): Promise<string> {
    return Promise.resolve(TEMPORARY_FOLDER);
  }

  async attach(command: TerminalCommand | undefined, signal: AbortSignal): Promise<GuestExit> {
    if (command !== undefined) checkCommand(command);
    // What is wrong with the login is said in our codes, and the key is put into the guest, before the terminal is ssh's.
    await this.ping(signal);
    const { host, folder } = this.#address;
    const target = await this.#target(undefined, signal);
    const words = command === undefined ? [] : [terminalLine(command)];
    const { code, signal: ended, stderr } = await host.processes.attach(SSH, [
      "-tt",
      ...sshArguments(target),
      ...words,
    ], {
      cwd: folder,
      env: await this.#environment(),
      signal,
    });
    if (ended !== null) {
      throw new HvError("hv.cancelled", `The terminal was ended by ${ended}`, { context: { signal: ended } });
    }
    // With this code and no words it is the program's own, or what a signal has ended.
    if (code === SSH_FAILURE && stderr !== "") {
      throw new HvError(
        "hv.outcome_unknown",
        `The connection to the guest broke: ${stderr.replace(/\.$/, "")}`,
        {
          hint: "The guest may have gone on or not: look at its state before trying again",
          context: { reason: stderr },
        },
      );
    }
    return { exit_code: code, signal: null };
  }

  close(): void {
    this.#connections.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections.close();
    await this.#leave();
  }

  async #attempt(
    command: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    signal: AbortSignal,
  ): Promise<Attempt> {
    const { host, folder } = this.#address;
    await this.#getReady(signal);
    using place = await this.#connections.take(signal);
    const target = await this.#target(place.control, signal);
    const words = ["-T", ...sshArguments(target), READ_LINE];
    const ssh = await host.processes.open(SSH, words, { cwd: folder, env: await this.#environment() });
    const program = new RemoteProgram(ssh, command, sinks, () => place.stands());
    const left = new AbortController();
    const late = place.isUsed ? host.clock.sleep(ANSWER_LIMIT_MS, left.signal) : undefined;
    late?.catch(() => {});
    try {
      const exit = await program.follow(signal, late);
      if (exit !== undefined) return { exit };
      // A machine that was started anew has another way in.
      if (place.isUsed) await place.abandon();
      if (program.code === SSH_FAILURE) await this.#leave();
      return { refused: loginFailure(program.words, program.code ?? SSH_FAILURE, target) };
    } catch (error) {
      throw await this.#endTree(program.pid, error);
    } finally {
      await program.leave(host.clock.sleep(LEAVE_MS, left.signal).catch(() => {}));
      left.abort();
    }
  }

  async #getReady(signal: AbortSignal): Promise<void> {
    const { host, folder } = this.#address;
    const publicKey = await prepareSshFolder(host, folder, signal);
    if (!this.#introduced && await this.#isUnknown()) await this.#introduce(publicKey, signal);
    this.#pinned ??= !await this.#isUnknown();
  }

  async #target(control: string | undefined, signal: AbortSignal): Promise<SshTarget> {
    const { login: { user, password }, alias } = this.#address;
    const { address: hostname, port } = await this.#reach(signal);
    return {
      hostname,
      port,
      user,
      alias,
      pinned: this.#pinned ?? false,
      usesPassword: password !== undefined,
      ...(control === undefined ? {} : { control }),
    };
  }

  async #reach(signal: AbortSignal): Promise<SshReach> {
    const reaching = this.#reached ??= this.#address.reach(signal);
    try {
      return await reaching;
    } catch (error) {
      if (this.#reached === reaching) this.#reached = undefined;
      throw error;
    }
  }

  /** Gives the way in back; one that cannot be given back has gone with its machine. */
  async #leave(): Promise<void> {
    const reached = this.#reached;
    this.#reached = undefined;
    try {
      await (await reached)?.[Symbol.asyncDispose]();
    } catch {
      return;
    }
  }

  async #isUnknown(): Promise<boolean> {
    const { host, folder } = this.#address;
    return await host.files.stat(joinPath(folder, SSH_FILES.knownHosts)) === undefined;
  }

  /** After a refusal: a guest that was restored or made anew has forgotten our key, and may have new ones of its own. */
  async #introduceAfter(refused: HvError, signal: AbortSignal): Promise<boolean> {
    const byKey = this.#address.login.password === undefined;
    const helps = refused.code === "hv.guest_identity" || (refused.code === "hv.guest_auth" && byKey);
    if (!helps || this.#address.sponsor === undefined || this.#introduced) return false;
    const { host, folder } = this.#address;
    await this.#introduce(await prepareSshFolder(host, folder, signal), signal);
    return this.#introduced;
  }

  /** A sponsor that cannot be reached is no failure: the key may be there already. */
  async #introduce(publicKey: string, signal: AbortSignal): Promise<void> {
    const { host, folder, login: { user, password }, alias, sponsor } = this.#address;
    if (sponsor === undefined) return;
    const introduction = {
      sponsor,
      user,
      publicKey: password === undefined ? publicKey : undefined,
      alias,
    };
    try {
      this.#pinned = await introduce(host, folder, introduction, signal) || undefined;
      this.#introduced = true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HvError) || error.code !== "hv.guest_not_ready") throw error;
    }
  }

  async #environment(): Promise<Record<string, string>> {
    const password = await this.#address.password();
    if (password === undefined) return {};
    return {
      [PASSWORD_VARIABLE]: password,
      SSH_ASKPASS: joinPath(this.#address.folder, SSH_FILES.askPassword),
      SSH_ASKPASS_REQUIRE: "force",
    };
  }

  /** Ends a program with all its children over a new session; gives the error to throw, which says how far that came. */
  async #endTree(pid: number | undefined, error: unknown): Promise<unknown> {
    if (pid === undefined || (error instanceof HvError && error.code === "hv.outcome_unknown")) return error;
    using limit = startDeadline(this.#address.host.clock, END_LIMIT_MS);
    let ended = false;
    try {
      const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
      const argv = ["/bin/sh", "-c", END_TREE, "hvlab", String(pid)];
      const attempt = await this.#attempt({ argv }, nothing, limit.signal);
      ended = "exit" in attempt && attempt.exit.exit_code === 0;
    } catch {
      // What counts is the failure that led here; `guest_program_ended` tells how far this came.
    }
    return error instanceof HvError ? withProgramEnd(error, pid, ended) : error;
  }
}
