/** Folders and the facts of files over PowerShell Direct, into simulated guests whose scripts run in real PowerShell. */

import assert from "node:assert/strict";
import { tarEnd, type TarEntry, tarHeader, tarPadding } from "../../src/base/tar.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { failureOf } from "../support/failures.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import { folderBehaviours, type FolderLab } from "./folder_behaviours.ts";
import type { Lab } from "./lab.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 64 };
const LIMIT_MS = 300_000;

/** The channel of a VM that runs, and a new folder of its guest. */
async function openFolderLab(lab: Lab): Promise<FolderLab> {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const vm = await lab.vm("vm_start", { vm: "web", until: "heartbeat" });
  const { host } = lab.session;
  const [channel] = (await lab.session.driver()).channels(vm);
  assert.ok(channel);
  const place = `${lab.root}/guest`;
  await Deno.mkdir(place);
  return {
    host,
    channel,
    place,
    run: (command) => {
      const given = typeof command === "string" ? { argv: ["sh", "-c", command] } : command;
      return runInGuest(channel, given, { signal: AbortSignal.timeout(LIMIT_MS), clock: host.clock });
    },
  };
}

faultTest("folders are copied as every channel promises it", async ({ lab }) => {
  const folders = await openFolderLab(lab);
  for (const [name, behave] of Object.entries(folderBehaviours)) {
    const place = `${folders.place}/${crypto.randomUUID()}`;
    await Deno.mkdir(place);
    await behave({ ...folders, place }).catch((cause) => {
      throw new Error(`Not so: ${name}`, { cause });
    });
  }
});

faultTest("what Windows cannot have is refused before anything is sent", async ({ lab }) => {
  const { place } = await openFolderLab(lab);
  const source = `${lab.root}/folder`;
  const copy = { vm: "web", source, destination: `${place}/folder` };
  for (const name of ["aux", "Com1.txt", "a:b", "ends.", "x\\y"]) {
    await Deno.mkdir(`${source}/in`, { recursive: true });
    await Deno.writeTextFile(`${source}/in/${name}`, "");
    const failure = await lab.failure("guest_copy_to", copy);
    assert.deepEqual([failure.code, failure.context.path], ["hv.unsupported", `in/${name}`]);
    await Deno.remove(source, { recursive: true });
  }
  await Deno.mkdir(source);
  for (const name of ["Same", "same"]) await Deno.writeTextFile(`${source}/${name}`, name);
  assert.match((await lab.failure("guest_copy_to", copy)).message, /only the case of letters/);
  await Deno.remove(`${source}/same`);
  await Deno.symlink("/etc/passwd", `${source}/link`);
  const sent = await lab.call("guest_copy_to", copy);
  assert.deepEqual([sent.files, sent.skipped, sent.channel], [
    1,
    [{ path: "link", reason: "it is a link" }],
    "psdirect",
  ]);
  assert.equal((await lab.failure("guest_copy_to", { ...copy, destination: "folder" })).code, "hv.usage");
});

faultTest("an archive that leads out of its folder is not unpacked", async ({ lab }) => {
  const { channel, place, run } = await openFolderLab(lab);
  const { folders } = channel;
  assert.ok(folders);
  const entry: TarEntry = { path: "a/../../out", kind: "file", size_bytes: 3, mode: 0o644, modified_s: 0 };
  const parts = [tarHeader(entry), new TextEncoder().encode("bad"), tarPadding(3), tarEnd()];
  const feed = () => Promise.resolve(parts.shift() ?? null);
  const options = { overwrite: false, token: "0a1b2c3d" };
  const unpacking = () =>
    folders.unpack(channel, `${place}/in`, feed, options, AbortSignal.timeout(LIMIT_MS));
  assert.equal((await failureOf("hv.unsupported", unpacking)).context.path, entry.path);
  assert.equal((await run({ argv: ["ls", "-A", place] })).stdout, "");
});

faultTest("what a killed copy left is gone with the next call", async ({ lab, world }) => {
  const { place } = await openFolderLab(lab);
  const { id } = await lab.vm("vm_get", { vm: "web" });
  const left = [`${place}/file.hvlab-0a1b2c3d`, `${place}/folder.hvlab-0a1b2c3d`];
  await Deno.writeTextFile(left[0] ?? "", "half");
  await Deno.mkdir(`${left[1]}/in`, { recursive: true });
  await Deno.writeTextFile(`${place}/mine`, "stays");
  const notes = `${world.folder}/state/hyperv_guests/${id}/passing`;
  await Deno.mkdir(notes, { recursive: true });
  const note = { guest: [...left, `${place}/mine`], host: [`${lab.root}/x.hvlab-0a1b2c3d`] };
  await Deno.writeTextFile(note.host[0] ?? "", "half");
  await Deno.writeTextFile(`${notes}/0a1b2c3d`, JSON.stringify(note));
  assert.equal((await lab.exec("web", ["ls", "-A", place])).stdout, "mine\n");
  await assert.rejects(Deno.stat(note.host[0] ?? ""), Deno.errors.NotFound);
  assert.deepEqual([...Deno.readDirSync(notes)], []);
});

faultTest("a file keeps its time, and is told from a folder", async ({ lab }) => {
  const { place } = await openFolderLab(lab);
  await Deno.writeTextFile(`${lab.root}/in`, "text");
  await Deno.utime(`${lab.root}/in`, 1e9, 1e9);
  await lab.call("guest_copy_to", { vm: "web", source: `${lab.root}/in`, destination: `${place}/in` });
  assert.equal((await Deno.stat(`${place}/in`)).mtime?.getTime(), 1e12);
  await lab.call("guest_copy_from", { vm: "web", source: `${place}/in`, destination: `${lab.root}/back` });
  assert.equal((await Deno.stat(`${lab.root}/back`)).mtime?.getTime(), 1e12);
  await Deno.mkdir(`${place}/folder`);
  await Deno.writeTextFile(`${place}/folder/x`, "x");
  const back = await lab.call("guest_copy_from", {
    vm: "web",
    source: `${place}/folder`,
    destination: `${lab.root}/folder`,
  });
  assert.deepEqual([back.files, await Deno.readTextFile(`${lab.root}/folder/x`)], [1, "x"]);
});

endSharedHost();
