/** What a way into a guest must do, whichever way it is: QEMU's agent, PowerShell Direct, SSH. */

import type { FolderContent, GuestEntry, Packed } from "./folders/content.ts";

/** Where bytes of a stream go as they come. A sink that waits holds the guest program back. */
export type ByteSink = (bytes: Uint8Array) => Promise<void>;

/** Where bytes come from; `null` ends them. */
export type ByteFeed = () => Promise<Uint8Array | null>;

/** A program to run in a guest. `argv` arrives byte for byte; no shell reads it. */
export interface GuestCommand {
  argv: readonly string[];
  /** The folder that it starts in; the channel's own when left out. */
  cwd?: string;
  /** Variables added to the guest's own environment. */
  env?: Readonly<Record<string, string>>;
  /** What it reads; nothing when left out. */
  stdin?: ByteFeed;
  /** Makes the passing names of what a channel keeps `stdin` in; one of the channel's own when left out. */
  token?: string;
  /** The user of the guest that it runs as. Needs a channel with the privilege, else `hv.unsupported`. */
  run_as?: string;
}

/** Which shells, paths and users a guest has. */
export type GuestFamily = "posix" | "windows";

/** The ways into guests. `memory` is that of tests. */
export type ChannelName = "agent" | "ssh" | "psdirect" | "memory";

/** What the guest's agent says of itself. */
export interface AgentFacts {
  version: string;
  /** The commands that it allows. */
  commands: string[];
}

/** How a guest file is written. */
export interface WriteOptions {
  overwrite: boolean;
  /** Permission bits; the usual ones when left out. */
  mode?: number;
  /** Makes the passing name that it has until it is whole; one of the channel's own when left out. */
  token?: string;
}

/** How a guest program ended: one of the two is `null`. */
export interface GuestExit {
  exit_code: number | null;
  signal: number | null;
}

/**
 * A way into one guest. Every method is bounded by its signal and rejects with the signal's reason. Failures are
 * `hv.guest_not_ready` (nobody answers yet), `hv.guest_denied` (the guest forbids it), `hv.guest_auth`,
 * `hv.guest_identity`, `hv.guest_crashed`, `hv.not_found` (no such program or file) and `hv.outcome_unknown`
 * (the link broke after a request that changes something).
 */
export interface GuestChannel {
  /** Its name in results. */
  readonly name: ChannelName;
  readonly family: GuestFamily;

  /** Proves by a fresh round trip that the guest answers. */
  ping(signal: AbortSignal): Promise<void>;

  /**
   * Runs a program to its end; its streams go apart to the sinks, whole and in order. When the signal aborts, the
   * program and its children in the guest are ended before the call rejects.
   */
  exec(
    command: GuestCommand,
    sinks: { stdout: ByteSink; stderr: ByteSink },
    signal: AbortSignal,
  ): Promise<GuestExit>;

  /**
   * Where `exec` has what a program is to read in the guest, under passing names. Absent where that streams into the program.
   */
  inputPlaces?(token: string): readonly string[];

  /** Writes a guest file whole, making its parent folder; an existing one is replaced only when `overwrite` is set. */
  writeFile(
    path: string,
    feed: ByteFeed,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<void>;

  /** Reads a guest file whole into the sink. */
  readFile(path: string, sink: ByteSink, signal: AbortSignal): Promise<void>;

  /** Removes a guest file; one that is not there counts as removed. */
  removeFile(path: string, signal: AbortSignal): Promise<void>;

  /** The folder of the guest for files that pass, without a separator at its end. */
  temporaryFolder(signal: AbortSignal): Promise<string>;

  /**
   * Gives a person a terminal in the guest, on our own: keys, signals and its size go there, until the program ends.
   * Without a command it is the user's shell. Absent where the channel has no terminals.
   */
  attach?(command: TerminalCommand | undefined, signal: AbortSignal): Promise<GuestExit>;

  /**
   * The same way, logged in as another user with what is stored of that login: where a program runs as somebody else only so.
   * Rejects with `hv.unsupported` when nothing is stored.
   */
  as?(user: string): Promise<GuestChannel>;

  /** Its own way with folders and with facts of files; that of the guest's family where it is left out. */
  readonly folders?: GuestFiles;

  /** What the agent at the other end says of itself; absent on channels without one. */
  describe?(signal: AbortSignal): Promise<AgentFacts>;

  /** Gives the connection back; the channel may be used again. */
  close(): void;
}

/** What is done about folders, which travel as tar archives, and about the facts of files. */
export interface GuestFiles {
  /** Looks at a path, following links; `undefined` where nothing is there. */
  look(channel: GuestChannel, path: string, signal: AbortSignal): Promise<GuestEntry | undefined>;

  /** Gives a file its time of the last change, where the guest can. */
  setTime(channel: GuestChannel, path: string, modified_ms: number, signal: AbortSignal): Promise<void>;

  /** What of a host's folder such a guest can have. Throws `hv.unsupported` for a name that it cannot. */
  accept(content: FolderContent): FolderContent;

  /** Throws unless the folder may be made: `hv.conflict` for one that is there, `hv.usage` for a file. */
  check(channel: GuestChannel, path: string, overwrite: boolean, signal: AbortSignal): Promise<void>;

  /**
   * Puts an archive into the guest, whose size and SHA-256 the channel compares there, and unpacks it: under a passing name
   * that becomes the folder's, or into a folder that is there when `overwrite` is set. `passingPlaces` tells what passes.
   */
  unpack(
    channel: GuestChannel,
    path: string,
    feed: ByteFeed,
    options: { overwrite: boolean; token: string },
    signal: AbortSignal,
  ): Promise<void>;

  /** Has the guest send a folder. What arrives is compared with the SHA-256 that the guest tells, where it can. */
  pack(
    channel: GuestChannel,
    path: string,
    sink: ByteSink,
    options: { token: string },
    signal: AbortSignal,
  ): Promise<Packed>;

  /** What `unpack` to a path, or `pack` when there is none, has in the guest under passing names. */
  passingPlaces(path: string | undefined, token: string): string[];

  /** Takes away a file or folder with a passing name; one that is not there counts as removed. */
  remove(channel: GuestChannel, path: string, signal: AbortSignal): Promise<void>;
}

/** What collectors need of a channel. */
export type ProgramRunner = Pick<GuestChannel, "exec">;

/** A program for a terminal: its streams are the terminal's. */
export type TerminalCommand = Pick<GuestCommand, "argv" | "cwd" | "env">;
