/** Working in real guests through the whole program: detached runs, logins, secrets, and guests that go wrong. */

import assert from "node:assert/strict";
import { isPlainObject } from "../../src/base/json.ts";
import { joinPath } from "../../src/base/paths.ts";
import { type GuestProgram, objectIn, openGuestProgram } from "../support/guest_program.ts";
import { canRunGuests, hasProgram } from "../support/tiny_image.ts";

/** The tiny guest's own password, which it takes over SSH when told so, and one that it does not. */
const RIGHT = "lab";
const WRONG = `wr0ng "secret" it's\\`;
/** Stored beside them, so that the search below has something that no other text holds. */
const STORED = "st0red-Pa55-2f7c";

Deno.test({
  name: "work in real guests through the whole program",
  ignore: !canRunGuests() || !hasProgram("ssh"),
  async fn(test) {
    await using program = await openGuestProgram("web", { RIGHT, WRONG, STORED });
    await test.step("a detached run is followed, read and ended by its operation", () =>
      showDetached(program));
    await test.step("a login is proved by each channel", () => showLogins(program));
    await test.step("a refused password is never followed by another way", () => showRefusal(program));
    await test.step("a stored login is used, and forgotten", () => showStored(program));
    await test.step("the whole of a long stream lies in a file", () => showWhole(program));
    await test.step("a frozen guest ends with the limit, and works again", () => showFrozen(program));
    await test.step("after a restart the boot before does not count", () => showRestart(program));
    await test.step("a guest that is killed leaves the outcome unknown", () => showKilled(program));
    await test.step("no secret stands in anything that was written or printed", () => searchSecrets(program));
  },
});

async function showDetached(program: GuestProgram): Promise<void> {
  const script = "for i in 1 2 3; do echo $i; sleep 0.3; done; exit 4";
  const begun = await program.json("guest", "exec", "web", "--detach", "--", "sh", "-c", script);
  assert.equal(begun.state, "running");
  const { state, result } = await program.json("op", "wait", String(begun.op));
  assert.equal(state, "succeeded");
  assert.ok(typeof result === "object" && result !== null && "exit_code" in result && "stdout" in result);
  assert.deepEqual([result.exit_code, result.stdout], [4, "1\n2\n3\n"]);
  assert.equal(await Deno.readTextFile(String(begun.stdout_file)), "1\n2\n3\n");

  const endless = await program.json(
    "guest",
    "exec",
    "web",
    "--detach",
    "--",
    "sh",
    "-c",
    "echo on; sleep 311",
  );
  while (await Deno.readTextFile(String(endless.stdout_file)) !== "on\n") {
    await new Promise((go) => setTimeout(go, 50));
  }
  await program.json("op", "cancel", String(endless.op));
  const ended = await program.run("op", "wait", String(endless.op), "--json");
  assert.deepEqual([ended.code, objectIn(ended.stdout).state], [10, "cancelled"]);
  const left = await program.run(
    "guest",
    "exec",
    "web",
    "--",
    "sh",
    "-c",
    "ps -o args | grep -c '[s]leep 311'",
  );
  assert.equal(left.stdout, "0\n");
  assert.equal(await program.failure("guest", "exec", "web", "--detach", "--tty", "--", "true"), "hv.usage");
}

async function showLogins(program: GuestProgram): Promise<void> {
  const plain = await program.json("vm", "wait", "web", "--until", "login", "--timeout", "120s");
  const named = await program.json(
    ...["vm", "wait", "web", "--until", "login", "--timeout", "120s"],
    ...["--user", "root", "--password-from-env", "RIGHT"],
  );
  const bootOf = ({ login }: Record<string, unknown>): unknown[] =>
    typeof login === "object" && login !== null && "channel" in login && "boot_id" in login
      ? [login.channel, login.boot_id]
      : [];
  const [agent, boot] = bootOf(plain);
  assert.equal(agent, "agent");
  assert.deepEqual(bootOf(named), ["ssh", boot]);
  assert.match(String(boot), /^[0-9a-f-]{36}$/);
  for (const channel of ["agent", "ssh"]) {
    const { channel: used, channels_not_used: others } = await program.json(
      ...["guest", "exec", "web", "--channel", channel, "--", "true"],
    );
    assert.equal(used, channel);
    assert.match(JSON.stringify(others), /was asked for/);
  }
}

async function showRefusal(program: GuestProgram): Promise<void> {
  const wrong = ["--user", "root", "--password-from-env", "WRONG"];
  assert.equal(await program.failure("guest", "exec", "web", ...wrong, "--", "true"), "hv.guest_auth");
  const { code } = await program.run("vm", "wait", "web", "--until", "login", "--timeout", "60s", ...wrong);
  assert.equal(code, 11);
  const unset = ["--user", "root", "--password-from-env", "UNSET"];
  assert.equal(await program.failure("guest", "exec", "web", ...unset, "--", "true"), "hv.guest_auth");
}

async function showStored(program: GuestProgram): Promise<void> {
  const store = (variable: string): Promise<Record<string, unknown>> =>
    program.json("guest", "credential", "web", "--user", "root", "--password-from-env", variable);
  await store("STORED");
  assert.equal(
    await program.failure("guest", "exec", "web", "--channel", "ssh", "--", "true"),
    "hv.guest_auth",
  );
  await store("RIGHT");
  assert.equal((await program.json("guest", "exec", "web", "--channel", "ssh", "--", "true")).exit_code, 0);
  assert.equal((await program.json("guest", "credential", "web", "--forget")).forgotten, true);
  await store("STORED");
}

async function showWhole(program: GuestProgram): Promise<void> {
  const { stdout_bytes, dropped_bytes, stdout_file } = await program.json(
    ...["guest", "exec", "web", "--channel", "agent", "--", "seq", "1", "100000"],
  );
  const whole = await Deno.readTextFile(String(stdout_file));
  assert.equal(stdout_bytes, whole.length);
  assert.ok(Number(dropped_bytes) > 0);
  assert.equal(whole, Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(""));
}

async function showFrozen(program: GuestProgram): Promise<void> {
  const pid = String((await program.json("vm", "get", "web")).pid);
  await new Deno.Command("kill", { args: ["-STOP", pid] }).output();
  try {
    for (const channel of ["agent", "ssh"]) {
      const words = ["guest", "exec", "web", "--channel", channel, "--timeout", "2s", "--", "true"];
      const code = await program.failure(...words);
      assert.ok(
        ["hv.timeout", "hv.guest_not_ready", "hv.conflict"].includes(String(code)),
        `${channel}: ${code}`,
      );
    }
  } finally {
    await new Deno.Command("kill", { args: ["-CONT", pid] }).output();
  }
  for (const channel of ["agent", "ssh"]) {
    const access = channel === "ssh" ? ["--user", "root", "--password-from-env", "RIGHT"] : [];
    const { stdout } = await program.run(
      "guest",
      "exec",
      "web",
      "--channel",
      channel,
      ...access,
      "--",
      "echo",
      "on",
    );
    assert.equal(stdout, "on\n");
  }
}

async function showRestart(program: GuestProgram): Promise<void> {
  const before = await program.run("guest", "exec", "web", "--", "cat", "/proc/sys/kernel/random/boot_id");
  await program.json("vm", "restart", "web", "--mode", "off", "--until", "heartbeat");
  // A guest whose agent is slow to come is logged in to over SSH, where it refuses what was stored for it above.
  const { login } = await program.json("vm", "wait", "web", "--until", "login", "--timeout", "120s");
  assert.ok(isPlainObject(login));
  const after = await program.run("guest", "exec", "web", "--", "cat", "/proc/sys/kernel/random/boot_id");
  assert.notEqual(after.stdout, before.stdout);
  assert.match(after.stdout, /^[0-9a-f-]{36}\n$/);
  assert.deepEqual([login.channel, login.boot_id], ["agent", after.stdout.trim()]);
}

async function showKilled(program: GuestProgram): Promise<void> {
  const pid = String((await program.json("vm", "get", "web")).pid);
  const begun = await program.json(
    "guest",
    "exec",
    "web",
    "--detach",
    "--",
    "sh",
    "-c",
    "echo on; sleep 312",
  );
  while (await Deno.readTextFile(String(begun.stdout_file)) !== "on\n") {
    await new Promise((go) => setTimeout(go, 50));
  }
  // Holes as far as no copy comes before the kill.
  const large = "dd if=/dev/null of=/tmp/large bs=1M seek=4096";
  await program.json("guest", "exec", "web", "--", "sh", "-c", large);
  const copying = program.start("guest", "copy-from", "web", "/tmp/large", "copy", "--channel", "agent");
  let isCopied = false;
  copying.status.then(() => isCopied = true);
  while (passingIn(program).length === 0) {
    assert.ok(!isCopied, "the copy was over before its guest could be killed");
    await new Promise((go) => setTimeout(go, 20));
  }
  await new Deno.Command("kill", { args: ["-KILL", pid] }).output();
  const copied = await copying.status;
  assert.ok(copied.code === 11 || copied.code === 13, `exit code ${copied.code}`);
  assert.deepEqual(passingIn(program), []);
  const { code, stdout } = await program.run("op", "wait", String(begun.op), "--json");
  assert.deepEqual([code, objectIn(stdout).state], [13, "unknown"]);
  // A process that was killed can still be seen for a moment.
  await program.json("vm", "wait", "web", "--until", "off", "--timeout", "60s");
  assert.equal(await program.failure("guest", "exec", "web", "--", "true"), "hv.conflict");
  await program.json("vm", "start", "web", "--until", "heartbeat");
  assert.equal((await program.run("guest", "exec", "web", "--", "echo", "again")).stdout, "again\n");
  const { id } = await program.json("vm", "get", "web");
  const notes = `${program.folder}/state/vms/${id}/guest/passing`;
  assert.deepEqual([...Deno.readDirSync(notes)], []);
}

/** What a copy to this host has not given its name yet. */
function passingIn({ folder }: GuestProgram): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.includes(".hvlab-"));
}

/** Every byte that the run wrote, and all that it printed; only the file that is there to hold a password may. */
async function searchSecrets(program: GuestProgram): Promise<void> {
  const secrets = [WRONG, STORED].flatMap((secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1);
    return [secret, inJson, JSON.stringify(inJson).slice(1, -1), new TextEncoder().encode(secret).toBase64()];
  });
  const holders: string[] = [];
  for await (const path of filesUnder(program.folder)) {
    const text = await textIn(path);
    if (secrets.some((secret) => text.includes(secret))) holders.push(path.slice(program.folder.length));
  }
  assert.equal(holders.length, 1, holders.join(" "));
  assert.match(holders[0] ?? "", /^\/state\/vms\/vm-[0-9a-f-]+\/guest\/credential\.json$/);
  const printed = program.printed.join("");
  for (const secret of secrets) assert.ok(!printed.includes(secret), "a secret was printed");
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for (const entry of await unlessGone(Array.fromAsync(Deno.readDir(folder))) ?? []) {
    const path = joinPath(folder, entry.name);
    if (entry.isDirectory) yield* filesUnder(path);
    else if (entry.isFile) yield path;
  }
}

/** Kernels are larger, and hold nothing of ours. */
const SEARCHED_BYTES = 6 * 1024 * 1024;

async function textIn(path: string): Promise<string> {
  const facts = await unlessGone(Deno.stat(path));
  if (facts === undefined || facts.size >= SEARCHED_BYTES) return "";
  const bytes = await unlessGone(Deno.readFile(path));
  return new TextDecoder("latin1").decode(bytes);
}

/** The keeper is at work meanwhile, and its database has files that come and go. */
async function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
