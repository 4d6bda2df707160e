/** What a channel into a POSIX guest is promised to do, whichever it is; shown on a real guest. */

import assert from "node:assert/strict";
import type { HvError } from "../../src/base/errors.ts";
import { joinPath } from "../../src/base/paths.ts";
import type { ExecResult } from "../../src/contract/guest.ts";
import { copyFromGuest, copyToGuest } from "../../src/flows/copies/copy_files.ts";
import { runScriptInGuest } from "../../src/flows/guest/run_script.ts";
import type { ByteFeed, GuestChannel, GuestCommand } from "../../src/guest/channel.ts";
import type { Host } from "../../src/host/host.ts";
import { failureOf } from "../support/failures.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

/** A channel, and a shorthand for running something over it. */
export interface ChannelLab {
  host: Host;
  channel: GuestChannel;
  run(command: GuestCommand | string): Promise<ExecResult>;
  /** The failure of a command whose time is over as soon as its output is as wanted. */
  runUntil(command: GuestCommand | string, isSeen: (seen: Seen) => boolean): Promise<HvError>;
}

/** What a command has written so far. */
export interface Seen {
  stdout: string;
  stderr: string;
}

const MIB = 1024 * 1024;
/** What takes longer hangs: an emulated guest on a busy machine takes minutes for what else takes a second. */
export const HANG_MS = 300_000;

/** What every channel into a POSIX guest does, by its promise. */
export const channelBehaviours: Record<string, (lab: ChannelLab) => Promise<void>> = {
  "streams apart, and the program's own exit code": async ({ run, channel }) => {
    const result = await run("echo out; echo err >&2; exit 7");
    assert.equal(result.exit_code, 7);
    assert.equal(result.signal, undefined);
    assert.equal(result.stdout, "out\n");
    assert.equal(result.stderr, "err\n");
    assert.equal(result.channel, channel.name);
  },

  "a signal is no exit code": async ({ run }) => {
    const result = await run("kill -9 $$");
    assert.equal(result.exit_code, null);
    assert.equal(result.signal, 9);
  },

  "arguments arrive byte for byte": async ({ run }) => {
    const args = [
      ...["", " ", "a b", "'", '"', "\\", '\\"', "a\\", "\n", "a\n", "\t", "$HOME", "%PATH%", "&&", "--flag"],
      ...["-x", "*", "é", "😀", "$(touch /tmp/evil)", "`id`", ";", "\r\n", "\u0001", "[a-z]"],
    ];
    const argv = ["sh", "-c", 'printf "%s\\000" "$#" "$@"', "sh", ...args];
    const { stdout } = await run({ argv });
    assert.deepEqual(stdout.split("\0"), [String(args.length), ...args, ""]);
  },

  "an argument of 100 kB arrives whole": async ({ run }) => {
    const { stdout } = await run({ argv: ["sh", "-c", 'printf %s "$1" | wc -c', "sh", "x".repeat(100_000)] });
    assert.equal(stdout, "100000\n");
  },

  "arguments that Linux cannot take are a usage error": async ({ run }) => {
    await failureOf("hv.usage", () => run({ argv: ["true", "x".repeat(200_000)] }));
  },

  "variables and the working folder are the program's": async ({ run }) => {
    const env = { A: "x y\n'z", hv: "not reserved", IFS: ":", EMPTY: "" };
    const { stdout } = await run({ argv: ["sh", "-c", 'echo "$PWD|$A|$hv|$EMPTY|"'], cwd: "/proc", env });
    assert.equal(stdout, "/proc|x y\n'z|not reserved||\n");
  },

  "the caller's PATH is used to find the program, and only that": async ({ run }) => {
    await failureOf("hv.not_found", () => run({ argv: ["true"], env: { PATH: "/none" } }));
    assert.equal((await run({ argv: ["/bin/true"], env: { PATH: "/none" } })).exit_code, 0);
  },

  "what is not there is named": async ({ run }) => {
    for (const program of ["nonesuch", "/bin/nonesuch", "./sh", "", "/bin"]) {
      const failure = await failureOf("hv.not_found", () => run({ argv: [program] }));
      assert.equal(failure.context.program, program);
    }
    const notExecutable = await failureOf("hv.not_found", () => run({ argv: ["/etc/passwd"] }));
    assert.match(notExecutable.message, /not executable/);
    const noFolder = await failureOf("hv.not_found", () => run({ argv: ["true"], cwd: "/none" }));
    assert.equal(noFolder.context.path, "/none");
  },

  "a program's own 127 is its exit code": async ({ run }) => {
    assert.equal((await run("exit 127")).exit_code, 127);
    assert.equal((await run("exit 125")).exit_code, 125);
  },

  "children that keep the streams do not delay the answer": async ({ run }) => {
    const { stdout } = await run("sleep 305 & echo $!");
    assert.equal((await run(`kill ${stdout}`)).exit_code, 0);
  },

  "bytes that are no text come as base64": async ({ run }) => {
    const { stdout_base64, stdout_bytes } = await run("printf '\\377\\000\\376'");
    assert.equal(stdout_base64, "/wD+");
    assert.equal(stdout_bytes, 3);
  },

  "97 kB and 3 MB come whole, in order and counted": async ({ run, channel }) => {
    for (const bytes of [97_000, 3 * MIB]) {
      const parts: Uint8Array[] = [];
      let stderr = "";
      const signal = AbortSignal.timeout(HANG_MS);
      const script = `head -c ${bytes} /dev/urandom >/tmp/r; sha256sum </tmp/r >&2; cat /tmp/r; rm /tmp/r`;
      await channel.exec({ argv: ["sh", "-c", script] }, {
        stdout: (part) => Promise.resolve(void parts.push(part.slice())),
        stderr: (part) => Promise.resolve(void (stderr += new TextDecoder().decode(part))),
      }, signal);
      const whole = new Uint8Array(await new Blob(parts.map((part) => part.slice())).arrayBuffer());
      assert.equal(whole.length, bytes);
      assert.equal(stderr.split(" ")[0], await sha256Of(whole));
    }
    assert.equal((await run("seq 1 20000")).truncated, undefined);
  },

  "endless output ends with the limit, and the guest goes on": async ({ run, runUntil }) => {
    const failure = await runUntil(
      "while :; do echo yyyyyyyyyyyyyyyy; done",
      ({ stdout }) => stdout.length > 100_000,
    );
    assert.equal(failure.context.guest_program_ended, true);
    assert.equal((await run("echo alive")).stdout, "alive\n");
  },

  "a limit ends the whole tree, whatever it does about signals": async ({ run, runUntil }) => {
    const script = `trap "" TERM INT HUP; sleep 301 & setsid sleep 302 & (sleep 303 & sleep 304) &
      until [ "$(ps -o args | grep -c '^sleep 30[1-4]')" = 4 ]; do :; done; echo begun; sleep 306`;
    const failure = await runUntil(script, ({ stdout }) => stdout === "begun\n");
    assert.equal(failure.context.guest_program_ended, true);
    assert.match(failure.message, /the program in the guest was ended with all that it had started$/);
    assert.equal((await run("ps -o args | grep -c '[s]leep 30[0-9]'")).stdout, "0\n");
  },

  "a sink that fails ends the program": async ({ channel, run }) => {
    const broken = (): Promise<void> => Promise.reject(new Error("the reader has gone"));
    const command = { argv: ["sh", "-c", "while :; do echo y; sleep 0.01; done; sleep 307"] };
    const signal = AbortSignal.timeout(HANG_MS);
    await assert.rejects(channel.exec(command, { stdout: broken, stderr: broken }, signal), {
      message: "the reader has gone",
    });
    assert.equal((await run("ps -o args | grep -c '[e]cho y'")).stdout, "0\n");
  },

  "files go in and out unchanged": async ({ host, channel, run }) => {
    await withTemporaryFolder(async (folder) => {
      const signal = AbortSignal.timeout(HANG_MS);
      const [source, back] = [joinPath(folder, "in"), joinPath(folder, "back")];
      const bytes = new Uint8Array(MIB + 17);
      for (let at = 0; at < bytes.length; at += 65_536) {
        crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      }
      await Deno.writeFile(source, bytes);
      const there = "/tmp/new folder/it's -here";
      const sent = await copyToGuest(host, channel, { source, destination: there, overwrite: false }, signal);
      assert.equal(sent.size_bytes, bytes.length);
      assert.equal(sent.sha256, await sha256Of(bytes));
      const again = { source, destination: there, overwrite: false };
      await failureOf("hv.conflict", () => copyToGuest(host, channel, again, signal));
      await copyToGuest(host, channel, { ...again, overwrite: true }, signal);
      await failureOf(
        "hv.usage",
        () => copyToGuest(host, channel, { ...again, destination: "/tmp" }, signal),
      );
      await copyFromGuest(host, channel, { source: there, destination: back, overwrite: false }, signal);
      assert.deepEqual(await Deno.readFile(back), bytes);
      assert.equal((await run({ argv: ["ls", "-A", "/tmp/new folder"] })).stdout, "it's -here\n");
      await run({ argv: ["rm", "-r", "/tmp/new folder"] });
    });
  },

  "files that cannot be read are told apart": async ({ channel }) => {
    const signal = AbortSignal.timeout(HANG_MS);
    const read = (path: string) => () => channel.readFile(path, () => Promise.resolve(), signal);
    assert.equal((await failureOf("hv.not_found", read("/none/x"))).context.path, "/none/x");
    await failureOf("hv.usage", read("/tmp"));
    await failureOf("hv.usage", read("/dev/null"));
    let uptime = "";
    const sink = (bytes: Uint8Array): Promise<void> =>
      Promise.resolve(void (uptime += new TextDecoder().decode(bytes)));
    await channel.readFile("/proc/uptime", sink, signal);
    assert.match(uptime, /^\d+\.\d+ \d+\.\d+\n$/);
  },

  "a copy that breaks off leaves nothing": async ({ channel, run }) => {
    const signal = AbortSignal.timeout(HANG_MS);
    let parts = 0;
    const feed = (): Promise<Uint8Array> =>
      ++parts > 2 ? Promise.reject(new Error("no more")) : Promise.resolve(new Uint8Array(1000));
    await assert.rejects(channel.writeFile("/tmp/half", feed, { overwrite: false }, signal), {
      message: "no more",
    });
    assert.equal((await run("ls -A /tmp")).stdout, "");
  },

  "a full guest disk is said, and leaves nothing": async ({ channel, run }) => {
    await run("mkdir /tmp/small && mount -t tmpfs -o size=64k none /tmp/small");
    const signal = AbortSignal.timeout(HANG_MS);
    let parts = 0;
    const feed = (): Promise<Uint8Array | null> =>
      Promise.resolve(++parts > 4 ? null : new Uint8Array(100_000));
    const failure = await failureOf(
      "hv.io",
      () => channel.writeFile("/tmp/small/big", feed, { overwrite: false }, signal),
    );
    assert.equal(failure.context.reason, "disk_full");
    assert.equal((await run("ls -A /tmp/small; umount /tmp/small; rmdir /tmp/small")).stdout, "");
  },

  "commands of one process overlap": async ({ run }) => {
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => run(`sleep 0.2; echo ${index}`)),
    );
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      Array.from({ length: 10 }, (_, index) => `${index}\n`),
    );
  },

  "a program reads what is sent, to the last byte": async ({ run }) => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_001));
    const { stdout } = await run({ argv: ["sha256sum"], stdin: feedOf(bytes) });
    assert.equal(stdout.split(" ")[0], await sha256Of(bytes));
    assert.equal((await run({ argv: ["wc", "-c"], stdin: feedOf(new Uint8Array()) })).stdout.trim(), "0");
    assert.equal((await run({ argv: ["wc", "-c"] })).stdout.trim(), "0");
  },

  "a program may leave its input unread": async ({ run }) => {
    const result = await run({
      argv: ["head", "-c", "3"],
      stdin: feedOf(new Uint8Array(300_000).fill(0x61)),
    });
    assert.deepEqual([result.exit_code, result.stdout], [0, "aaa"]);
  },

  "an input that fails ends the program": async ({ channel, run }) => {
    const broken = (): Promise<never> => Promise.reject(new Error("the source is gone"));
    const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
    const command = { argv: ["sh", "-c", "cat; sleep 309"], stdin: broken };
    await assert.rejects(channel.exec(command, nothing, AbortSignal.timeout(HANG_MS)), {
      message: "the source is gone",
    });
    assert.equal((await run("ps -o args | grep -c '[s]leep 309'")).stdout, "0\n");
  },

  "a program runs as another user, with that user's home": async ({ run }) => {
    const script = 'id -un; echo "$USER $HOME"; exit 6';
    const result = await run({ argv: ["sh", "-c", script, "sh", "--flag"], run_as: "nobody" });
    assert.equal(result.exit_code, 6);
    const [user, words = ""] = result.stdout.split("\n");
    assert.equal(user, "nobody");
    assert.match(words, /^nobody \//);
    const words2 = ["", "a b", "'", "$HOME", "-x"];
    const exact = await run({ argv: ["printf", "[%s]", ...words2], run_as: "nobody" });
    assert.equal(exact.stdout, words2.map((word) => `[${word}]`).join(""));
    await failureOf("hv.not_found", () => run({ argv: ["true"], run_as: "nonesuch" }));
    await failureOf("hv.usage", () => run({ argv: ["true"], run_as: "a b" }));
    await failureOf("hv.not_found", () => run({ argv: ["nonesuch"], run_as: "nobody" }));
  },

  "a limit ends another user's program too": async ({ run, runUntil }) => {
    const failure = await runUntil(
      { argv: ["sh", "-c", "sleep 309 & echo begun; sleep 309"], run_as: "nobody" },
      ({ stdout }) => stdout === "begun\n",
    );
    assert.equal(failure.context.guest_program_ended, true);
    assert.equal((await run("ps -o args | grep -c '[s]leep 309'")).stdout, "0\n");
  },

  "a limit tells what had been written": async ({ runUntil }) => {
    const failure = await runUntil(
      "echo half; echo way >&2; sleep 309",
      ({ stdout, stderr }) => stdout === "half\n" && stderr === "way\n",
    );
    assert.equal(failure.context.stdout, "half\n");
    assert.equal(failure.context.stderr, "way\n");
  },

  "a script is gone afterwards, and its exit code is its own": async ({ channel, host, run }) => {
    const bytes = new TextEncoder().encode('#!/bin/sh\necho "$# [$1]"; echo "$0" >&2; exit 5\n');
    const options = { signal: AbortSignal.timeout(HANG_MS), clock: host.clock };
    const result = await runScriptInGuest(channel, { bytes, args: ["a 'b\n", ""] }, options);
    assert.deepEqual([result.exit_code, result.stdout], [5, "2 [a 'b\n]\n"]);
    await failureOf("hv.not_found", () => run({ argv: [result.stderr.trim()] }));
    const other = await runScriptInGuest(channel, { bytes, args: [], run_as: "nobody" }, options);
    assert.equal(other.exit_code, 5);
    assert.equal((await run("ls -A /tmp")).stdout, "");
  },

  "a file that is removed is gone, and one that is not there counts as removed": async ({ channel, run }) => {
    const signal = AbortSignal.timeout(HANG_MS);
    await run("echo x >'/tmp/a file'");
    await channel.removeFile("/tmp/a file", signal);
    await channel.removeFile("/tmp/a file", signal);
    assert.equal((await run("ls -A /tmp")).stdout, "");
  },
};

function feedOf(bytes: Uint8Array): ByteFeed {
  let at = 0;
  return () => {
    const part = bytes.subarray(at, at + 16_384);
    at += part.length;
    return Promise.resolve(part.length === 0 ? null : part);
  };
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return digest.toHex();
}
