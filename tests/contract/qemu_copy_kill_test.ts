/** Copies whose hvlab is killed in the middle: the next call finds nothing of them, in the guest and on this host. */

import assert from "node:assert/strict";
import { joinPath } from "../../src/base/paths.ts";
import { systemClock } from "../../src/host/clock.ts";
import { canRunGuests, hasProgram } from "../support/tiny_image.ts";
import { isPlainObject } from "../../src/base/json.ts";
import { type GuestProgram, objectIn, openGuestProgram } from "../support/guest_program.ts";

/** Large enough that a copy takes longer than a kill. */
const LARGE_BYTES = 16 * 1024 * 1024;
/** A copy may be quicker than the kill on some host, and is then made again; so often in a row it is not. */
const MOST_TRIES = 20;

/** A copy of one thing, and how it shows that it has begun. */
interface Case {
  words: (folder: string) => string[];
  /** Where the copy goes: a path in the guest, or one below the test's folder. */
  target: string;
  /** Holds in the guest as soon as the copy has begun; left out where its passing name shows on this host. */
  begun?: string;
}

/** Shell patterns match no name that begins with a dot, and passing names do not. */
const PASSES_IN_GUEST = "[ -e /tmp/there/*.hvlab-* ]";

const CASES: Readonly<Record<string, Case>> = {
  "a file on its way in over the agent": {
    words: (folder) => ["copy-to", "web", `${folder}/large/file`, "/tmp/there/file", "--channel", "agent"],
    target: "/tmp/there/file",
    begun: PASSES_IN_GUEST,
  },
  "a folder on its way in over SSH": {
    words: (folder) => ["copy-to", "web", `${folder}/large`, "/tmp/there/folder", "--channel", "ssh"],
    target: "/tmp/there/folder",
    begun: PASSES_IN_GUEST,
  },
  "a folder on its way out over the agent": {
    words: (folder) => ["copy-from", "web", "/tmp/large", `${folder}/out/folder`, "--channel", "agent"],
    target: "out/folder",
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
    for (const [name, copy] of Object.entries(CASES)) {
      await test.step(name, async () => {
        if (copy.begun === undefined) {
          await inGuest(program, `mkdir -p /tmp/large; head -c ${LARGE_BYTES} /dev/urandom >/tmp/large/file`);
        }
        await killAmidst(program, copy);
        await inGuest(program, "rm -rf /tmp/large");
      });
    }
    await test.step("a file that is lent as a disk", async () => {
      const words = ["copy-to", "web", `${folder}/large/file`, "/tmp/there/file"];
      const begun = `[ "$(cd /sys/block; echo *)" != "${disks.replaceAll("\n", " ")}" ]`;
      await killAmidst(program, { words: () => words, target: "/tmp/there/file", begun });
      assert.equal(await inGuest(program, "ls /sys/block"), disks);
      const { carried_by } = await program.json("guest", ...words);
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

/** Kills a copy that has begun and is not whole. Wherever it is hit, the next call leaves nothing of it but what is whole. */
async function killAmidst(program: GuestProgram, copy: Case): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await killOnceBegun(program, copy);
    await refuseRemains(program);
    if (!await takeTarget(program, copy)) return;
  }
  throw new Error(`"${copy.words("").join(" ")}" was whole ${MOST_TRIES} times before it could be killed`);
}

async function killOnceBegun(program: GuestProgram, { words, begun }: Case): Promise<void> {
  const hasBegun = begun === undefined ? () => passesHere(program) : await watchGuest(program, begun);
  const killed = program.start("guest", ...words(program.folder));
  let isOver = false;
  const ended = killed.status.finally(() => isOver = true);
  while (!isOver && !hasBegun()) await systemClock.sleep(1);
  // It may have ended by itself, and then as it should.
  if (!isOver) killed.kill("SIGKILL");
  const { code, signal } = await ended;
  assert.ok(signal === "SIGKILL" || code === 0, `"${words("").join(" ")}" ended with ${code}`);
}

function passesHere({ folder }: GuestProgram): boolean {
  return Array.from(Deno.readDirSync(`${folder}/out`)).some(({ name }) => name.includes(".hvlab-"));
}

/** The guest says on its serial line when a condition holds: a call that asked would come too late. */
async function watchGuest(program: GuestProgram, condition: string): Promise<() => boolean> {
  const { id } = await program.json("vm", "get", "web");
  const log = joinPath(program.folder, "state", "vms", String(id), "serial.log");
  const word = `begun-${crypto.randomUUID()}`;
  await inGuest(
    program,
    `(until ${condition}; do :; done; echo ${word} >/dev/ttyS0) >/dev/null 2>&1 &`,
  );
  return () => Deno.readTextFileSync(log).includes(word);
}

/** Takes away what was copied whole; answers whether there was anything. */
async function takeTarget(program: GuestProgram, { target, begun }: Case): Promise<boolean> {
  if (begun !== undefined) {
    return await inGuest(program, `ls -d ${target} 2>/dev/null; rm -rf /tmp/there`) !== "";
  }
  const path = joinPath(program.folder, target);
  return await Deno.remove(path, { recursive: true }).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
}

/** The first call after the kill sees no passing name any more, and no note of one is left. */
async function refuseRemains(program: GuestProgram): Promise<void> {
  assert.equal(await inGuest(program, "find /tmp -name '*hvlab-*'"), "");
  assert.ok(!passesHere(program));
  const { id } = await program.json("vm", "get", "web");
  const notes = joinPath(program.folder, "state", "vms", String(id), "guest", "passing");
  assert.deepEqual([...Deno.readDirSync(notes)], []);
}

async function inGuest(program: GuestProgram, script: string): Promise<string> {
  const words = ["guest", "exec", "web", "--channel", "agent", "--", "sh", "-c", `${script}\nexit 0`];
  const { code, stdout, stderr } = await program.run(...words);
  assert.equal(code, 0, `${script}: ${stderr}`);
  return stdout.trim();
}
