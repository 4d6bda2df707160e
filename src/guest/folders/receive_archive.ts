/** Taking a folder's archive from a program of the guest, whose last words tell its digest and how packing ended. */

import { BoundedBytes } from "../../base/bounded_bytes.ts";
import { HvError } from "../../base/errors.ts";
import { startSha256 } from "../../host/digest.ts";
import type { ByteSink, GuestChannel, GuestCommand } from "../channel.ts";
import type { Packed } from "./content.ts";

const WORDS_KEPT = { head: 8 * 1024, tail: 8 * 1024 };

/** How the program ended. */
export interface PackingEnd extends Packed {
  exit_code: number | null;
  /** The word of a failure of ours. */
  failed?: string;
  /** The exit code of the guest's own packing program. */
  ended: number;
}

/**
 * Runs a program that writes an archive to its output, and to its errors `hv-sha256 DIGEST`, `hv-failed WORD` or
 * `hv-ended CODE`. Throws `hv.io` when what arrives has another SHA-256.
 */
export async function receiveArchive(
  channel: Pick<GuestChannel, "exec">,
  command: GuestCommand,
  path: string,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<PackingEnd> {
  const digest = await startSha256();
  const err = new BoundedBytes(WORDS_KEPT);
  const { exit_code } = await channel.exec(command, {
    stdout: async (bytes) => {
      digest.update(bytes);
      await sink(bytes);
    },
    stderr: (bytes) => Promise.resolve(err.push(bytes)),
  }, signal);
  const sha256 = digest.end();
  const words = err.toText().text.replaceAll("\r\n", "\n");
  const told = /^hv-sha256 ([0-9a-f]{64})$/m.exec(words)?.[1];
  const failed = /^hv-failed (\w+)$/m.exec(words)?.[1];
  const ended = Number(/^hv-ended (\d+)$/m.exec(words)?.[1] ?? 0);
  const rest = words.split("\n").filter((line) => line !== "" && !line.startsWith("hv-")).join("\n");
  if (failed === undefined && told !== undefined && told !== sha256) {
    throw new HvError("hv.io", `What arrived of "${path}" differs from what the guest sent`, {
      hint: "Copy it again",
      context: { path, wanted: told, found: sha256 },
      retryable: true,
    });
  }
  return {
    sha256,
    exit_code,
    ended,
    ...(failed === undefined ? {} : { failed }),
    ...(rest === "" ? {} : { warning: rest }),
  };
}
