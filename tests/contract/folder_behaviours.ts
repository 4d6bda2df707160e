/** What copying folders is promised to do on every channel; shown on real guests and at the simulated end of PowerShell Direct. */

import assert from "node:assert/strict";
import type { CopyRequest } from "../../src/flows/copies/copy_files.ts";
import { type Copied, copyFolderFromGuest, copyFolderToGuest } from "../../src/flows/copies/copy_folders.ts";
import { guestFilesFor } from "../../src/guest/folders/guest_files.ts";
import { listFolder } from "../../src/guest/folders/read_folder.ts";
import { failureOf } from "../support/failures.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";
import { type ChannelLab, HANG_MS } from "./channel_behaviours.ts";

/** A channel, and a folder of the guest that is there, is empty, and is no other's. */
export interface FolderLab extends Pick<ChannelLab, "host" | "channel" | "run"> {
  place: string;
}

const DEEP = `deep/${"long folder ".repeat(9).trim()}/é`;
const SMALL_FILES = 120;

/** What every channel with `tar` or PowerShell at its other end does. */
export const folderBehaviours: Record<string, (lab: FolderLab) => Promise<void>> = {
  "a folder goes there and back with its times, whole or not at all": (lab) =>
    withTemporaryFolder(async (root) => {
      const { run, place } = lab;
      const source = `${root}/folder`;
      await makeFolder(source);
      const to = { source, destination: `${place}/a b/folder`, overwrite: false };
      const sent = await copyTo(lab, to);
      assert.equal(sent.files, SMALL_FILES + 3);
      const back = { source: to.destination, destination: `${root}/new/back`, overwrite: false };
      assert.equal((await copyFrom(lab, back)).files, SMALL_FILES + 3);
      // The tar of busybox lets a folder's time be that of its last entry.
      const filled = lab.channel.family === "windows";
      assert.deepEqual(await factsBelow(back.destination, filled), await factsBelow(source, filled));

      assert.equal((await failureOf("hv.conflict", () => copyTo(lab, to))).context.path, to.destination);
      await failureOf("hv.usage", () => copyTo(lab, { ...to, destination: `${to.destination}/old` }));
      await failureOf("hv.conflict", () => copyFrom(lab, back));

      await Deno.writeTextFile(`${source}/old`, "changed");
      await Deno.remove(`${source}/deep/7`);
      await copyTo(lab, { ...to, overwrite: true });
      const { stdout } = await run({ argv: ["cat", `${to.destination}/old`, `${to.destination}/deep/7`] });
      assert.equal(stdout, "changedcontent of 7");
      await run({ argv: ["ln", "-s", "/etc/passwd", `${to.destination}/link`] });
      await Deno.writeTextFile(`${back.destination}/mine`, "stays");
      const again = await copyFrom(lab, { ...back, overwrite: true });
      assert.deepEqual(again.skipped, [{ path: "./link", reason: "it is a link" }]);
      assert.equal(await Deno.readTextFile(`${back.destination}/mine`), "stays");
      assert.equal(await Deno.readTextFile(`${back.destination}/old`), "changed");
      await refuseRemains(lab, root);
    }),

  "a folder with a link replaces the one that an earlier copy of it has made": (lab) =>
    withTemporaryFolder(async (root) => {
      const source = `${root}/folder`;
      await Deno.mkdir(source);
      const to = { source, destination: `${lab.place}/linked`, overwrite: true };
      for (const target of ["one", "two"]) {
        await Deno.symlink(target, `${source}/link`);
        await copyTo(lab, to);
        if (lab.channel.family === "posix") {
          assert.equal(
            (await lab.run({ argv: ["readlink", `${to.destination}/link`] })).stdout,
            `${target}\n`,
          );
        }
        await Deno.remove(`${source}/link`);
      }
    }),

  "what cannot be there counts as removed": async (lab) => {
    const { channel, place, run } = lab;
    const file = `${place}/file`;
    await run({ argv: ["sh", "-c", 'echo a >"$1"', "sh", file] });
    const { remove } = await guestFilesFor(channel);
    await remove(channel, `${file}/below.hvlab-0a1b2c3d`, AbortSignal.timeout(HANG_MS));
    assert.equal((await run({ argv: ["cat", file] })).stdout, "a\n");
  },

  "a file and a folder of one name do not replace each other": (lab) =>
    withTemporaryFolder(async (root) => {
      await Deno.mkdir(`${root}/folder/old`, { recursive: true });
      await Deno.writeTextFile(`${root}/folder/old/x`, "");
      await Deno.writeTextFile(`${root}/folder/first`, "new");
      const there = `${lab.place}/there`;
      await lab.run({ argv: ["sh", "-c", 'mkdir "$1"; echo a >"$1/old"; echo b >"$1/first"', "sh", there] });
      const to = { source: `${root}/folder`, destination: there, overwrite: true };
      await assert.rejects(() => copyTo(lab, to));
      assert.equal((await lab.run({ argv: ["cat", `${there}/old`] })).stdout, "a\n");
      await refuseRemains(lab, root);
    }),

  "a copy that breaks off leaves nothing on either side": (lab) =>
    withTemporaryFolder(async (root) => {
      const source = `${root}/folder`;
      await Deno.mkdir(source);
      await Deno.writeFile(`${source}/large`, new Uint8Array(2_000_000).map((_, at) => at * 31));
      const content = await listFolder(lab.host.files, source, AbortSignal.timeout(HANG_MS));
      await Deno.truncate(`${source}/large`, 700_000);
      const to = { source, destination: `${lab.place}/half`, overwrite: false };
      const scope = scopeOf(lab);
      await failureOf("hv.conflict", () => copyFolderToGuest(scope, lab.channel, to, content));
      const fill = 'mkdir "$1" && head -c 2000000 /dev/urandom >"$1/large"';
      await lab.run({ argv: ["sh", "-c", fill, "sh", to.destination] });
      const stopped = new AbortController();
      const from = { source: to.destination, destination: `${root}/back`, overwrite: false };
      const stopping = {
        ...scope,
        signal: stopped.signal,
        progress: () => stopped.abort(new Error("enough")),
      };
      await assert.rejects(copyFolderFromGuest(stopping, lab.channel, from), { message: "enough" });
      assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name), ["folder"]);
      await refuseRemains(lab, root);
    }),

  "a full guest disk is said, and nothing of the folder stays": (lab) =>
    withTemporaryFolder(async (root) => {
      const small = `${lab.place}/small`;
      await Deno.mkdir(`${root}/folder`);
      await Deno.writeFile(`${root}/folder/large`, new Uint8Array(150_000));
      // The archive itself fits, and what is in it does not fit beside it.
      await lab.run({
        argv: ["sh", "-c", 'mkdir "$1" && mount -t tmpfs -o size=200k none "$1"', "sh", small],
      });
      try {
        const to = { source: `${root}/folder`, destination: `${small}/folder`, overwrite: false };
        assert.equal((await failureOf("hv.io", () => copyTo(lab, to))).context.reason, "disk_full");
        assert.equal((await lab.run({ argv: ["ls", "-A", small] })).stdout, "");
      } finally {
        await lab.run({ argv: ["sh", "-c", 'umount "$1"; rmdir "$1"', "sh", small] });
      }
    }),
};

/** Many small files, and one of each kind that is hard to copy. */
async function makeFolder(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/${DEEP}`, { recursive: true });
  await Deno.mkdir(`${folder}/empty`);
  for (let at = 0; at < SMALL_FILES; at++) {
    await Deno.writeTextFile(`${folder}/deep/${at}`, `content of ${at}`);
  }
  await Deno.writeTextFile(`${folder}/old`, "old\n");
  await Deno.writeTextFile(`${folder}/nothing`, "");
  await Deno.writeFile(`${folder}/${DEEP}/it's`, new Uint8Array(300_000).map((_, at) => at * 7));
  await Deno.utime(`${folder}/old`, 1e9, 1e9);
  await Deno.utime(`${folder}/empty`, 1.1e9, 1.1e9);
}

/** Second of the last change, and digest, by path; times of folders that are not empty only when wanted. */
async function factsBelow(folder: string, filled: boolean, within = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${within}`)) {
    const path = `${within}${name}`;
    const { mtime } = await Deno.stat(`${folder}/${path}`);
    const time = Math.floor((mtime?.getTime() ?? 0) / 1000);
    if (isDirectory) {
      const below = await factsBelow(folder, filled, `${path}/`);
      const isTold = filled || Object.keys(below).length === 0;
      Object.assign(found, { [`${path}/`]: isTold ? String(time) : "" }, below);
    } else {
      const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(`${folder}/${path}`));
      found[path] = `${time} ${new Uint8Array(digest).toHex()}`;
    }
  }
  return found;
}

function scopeOf({ host }: FolderLab): Parameters<typeof copyFolderToGuest>[0] {
  return { host, signal: AbortSignal.timeout(HANG_MS), progress: () => {}, warn: () => {} };
}

async function copyTo(lab: FolderLab, request: CopyRequest): Promise<Copied> {
  const content = await listFolder(lab.host.files, request.source, AbortSignal.timeout(HANG_MS));
  return await copyFolderToGuest(scopeOf(lab), lab.channel, request, content);
}

async function copyFrom(lab: FolderLab, request: CopyRequest): Promise<Copied> {
  return await copyFolderFromGuest(scopeOf(lab), lab.channel, request);
}

/** Nothing with a passing name stays in the guest or on this host. */
async function refuseRemains({ run, place }: FolderLab, root: string): Promise<void> {
  const { stdout } = await run({ argv: ["find", place, "-name", "*hvlab-*"] });
  assert.equal(stdout, "");
  const here = Object.keys(await factsBelow(root, false));
  assert.deepEqual(here.filter((path) => path.includes("hvlab-")), []);
}
