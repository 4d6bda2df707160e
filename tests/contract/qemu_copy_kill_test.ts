/** Copies whose hvlab is killed in the middle: the next call finds nothing of them, in the guest and on this host. */

import assert from "node:assert/strict";
import { joinPath } from "../../src/base/paths.ts";
import { canRunGuests, hasProgram } from "../support/tiny_image.ts";
import { isPlainObject } from "../../src/base/json.ts";
import { type GuestProgram, objectIn, openGuestProgram } from "../support/guest_program.ts";

/** Large enough that a copy takes seconds over the agent and over SSH. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** What is copied, and where its passing name shows first: in the guest or on this host. */
interface Case {
  words: (folder: string) => string[];
  shows: "guest" | "host";
}

const CASES: Readonly<Record<string, Case>> = {
  "a file on its way in over the agent": {
    words: (folder) => ["copy-to", "web", `${folder}/large/file`, "/tmp/there/file", "--channel", "agent"],
    shows: "guest",
  },
  "a folder on its way in over SSH": {
    words: (folder) => ["copy-to", "web", `${folder}/large`, "/tmp/there/folder", "--channel", "ssh"],
    shows: "guest",
  },
  "a folder on its way out over the agent": {
    words: (folder) => ["copy-from", "web", "/tmp/large", `${folder}/out/folder`, "--channel", "agent"],
    shows: "host",
  },
};

Deno.test({
  name: "qemu: a copy whose hvlab is killed leaves nothing after the next call",
  ignore: !canRunGuests() || !hasProgram("ssh"),
  async fn(test) {
    await using program = await openGuestProgram("web");
    const { folder } = program;
    await Deno.mkdir(`${folder}/large`);
    await Deno.mkdir(`${folder}/out`);
    const bytes = new Uint8Array(LARGE_BYTES).map((_, at) => (at * 2_654_435_761) >>> 11);
    await Deno.writeFile(`${folder}/large/file`, bytes);
    const disks = await inGuest(program, "ls /sys/block");
    for (const [name, { words, shows }] of Object.entries(CASES)) {
      await test.step(name, async () => {
        if (shows === "host") {
          await inGuest(program, `mkdir -p /tmp/large; head -c ${LARGE_BYTES} /dev/urandom >/tmp/large/file`);
        }
        await killOnce(program, ["guest", ...words(folder)], () => seesPassing(program, shows));
        await refuseRemains(program);
        await inGuest(program, "rm -rf /tmp/there /tmp/large");
      });
    }
    await test.step("a file that is lent as a disk", async () => {
      const copy = ["guest", "copy-to", "web", `${folder}/large/file`, "/tmp/there/file"];
      await killOnce(program, copy, async () => (await inGuest(program, "ls /sys/block")) !== disks);
      await refuseRemains(program);
      assert.equal(await inGuest(program, "ls /sys/block"), disks);
      const { carried_by } = await program.json(...copy);
      assert.equal(carried_by, "disk");
      await inGuest(program, "rm -rf /tmp/there");
    });
    await test.step("a guest that is full says so, also of a lent disk", () => fillUp(program));
  },
});

/** A guest that has no room for the file that it reads from a disk. */
async function fillUp(program: GuestProgram): Promise<void> {
  await inGuest(program, "mkdir -p /tmp/small && mount -t tmpfs -o size=8m none /tmp/small");
  const copy = ["guest", "copy-to", "web", `${program.folder}/large/file`, "/tmp/small/file", "--json"];
  const { code, stdout } = await program.run(...copy);
  const { context } = objectIn(stdout);
  assert.deepEqual([code, isPlainObject(context) ? context.reason : undefined], [15, "disk_full"]);
  assert.equal(await inGuest(program, "ls -A /tmp/small; umount /tmp/small"), "");
}

/** Starts hvlab, and kills it once something is seen. */
async function killOnce(
  program: GuestProgram,
  words: string[],
  isSeen: () => Promise<boolean>,
): Promise<void> {
  const killed = program.start(...words);
  let isOver = false;
  killed.status.then(() => isOver = true);
  while (!await isSeen()) assert.ok(!isOver, `"${words.join(" ")}" was over before it could be killed`);
  killed.kill("SIGKILL");
  await killed.status;
}

async function seesPassing(program: GuestProgram, where: "guest" | "host"): Promise<boolean> {
  if (where === "guest") return (await inGuest(program, "ls -A /tmp/there")).includes(".hvlab-");
  return Array.from(Deno.readDirSync(`${program.folder}/out`)).some(({ name }) => name.includes(".hvlab-"));
}

/** The first call after the kill sees nothing any more. */
async function refuseRemains(program: GuestProgram): Promise<void> {
  assert.equal(await inGuest(program, "find /tmp -name '*hvlab-*'"), "");
  assert.deepEqual([...Deno.readDirSync(`${program.folder}/out`)], []);
  const { id } = await program.json("vm", "get", "web");
  const notes = joinPath(program.folder, "state", "vms", String(id), "guest", "passing");
  assert.deepEqual([...Deno.readDirSync(notes)], []);
}

async function inGuest(program: GuestProgram, script: string): Promise<string> {
  const words = ["guest", "exec", "web", "--channel", "agent", "--", "sh", "-c", script];
  return (await program.run(...words)).stdout.trim();
}
