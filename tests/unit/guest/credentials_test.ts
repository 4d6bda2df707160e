import assert from "node:assert/strict";
import { openGuestFolder } from "../../../src/drivers/qemu/ssh.ts";
import {
  forgetCredential,
  readSecret,
  readStoredLogin,
  SECRET_TOOL,
  type SecretStore,
  storeCredential,
} from "../../../src/guest/credentials.ts";
import { failureOf } from "../../support/failures.ts";
import { plainGuestFolder } from "../../support/plain_guest_folder.ts";
import { withQemu } from "../../support/qemu_context.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const PASSWORD = `s3cr"e t'\\é`;
const signal = new AbortController().signal;

Deno.test("without a desktop's store a password lies in a file of this user alone", async () => {
  await using host = await ScriptedHost.open();
  const folder = plainGuestFolder(`${host.root}/guest`);
  assert.equal(
    await storeCredential({ host, folder, key: "vm-1" }, { user: "root", password: PASSWORD }, signal),
    "file",
  );
  const { mode } = await Deno.stat(`${folder.path}/credential.json`);
  assert.equal((mode ?? 0) & 0o777, 0o600);
  const login = await readStoredLogin({ host, folder, key: "vm-1" });
  assert.deepEqual(login, { user: "root", password: { kind: "stored", key: "vm-1" } });
  assert.equal(await readSecret({ host, folder, key: "vm-1" }, login ?? { user: "" }), PASSWORD);
  assert.equal(await forgetCredential({ host, folder, key: "vm-1" }, undefined, signal), true);
  assert.equal(await forgetCredential({ host, folder, key: "vm-1" }, undefined, signal), false);
  assert.equal(await readStoredLogin({ host, folder, key: "vm-1" }), undefined);
});

Deno.test("the desktop's store gets the password on its input, never as an argument", async () => {
  await using host = await ScriptedHost.open();
  const folder = plainGuestFolder(`${host.root}/guest`);
  host.processes.places.set(SECRET_TOOL, "/usr/bin/secret-tool");
  const words = ["application", "hvlab", "guest", "vm-1", "user", "root"];
  host.processes.expect(SECRET_TOOL, ["store", "--label=hvlab guest vm-1", ...words]);
  host.processes.expect(SECRET_TOOL, ["lookup", ...words], { stdout: PASSWORD });
  assert.equal(
    await storeCredential({ host, folder, key: "vm-1" }, { user: "root", password: PASSWORD }, signal),
    "libsecret",
  );
  assert.doesNotMatch(await Deno.readTextFile(`${folder.path}/credential.json`), /s3cr/);
  host.processes.expect(SECRET_TOOL, ["lookup", ...words], { stdout: PASSWORD });
  const login = { user: "root", password: { kind: "stored", key: "vm-1" } } as const;
  assert.equal(await readSecret({ host, folder, key: "vm-1" }, login), PASSWORD);
});

Deno.test("a store that is locked leaves the file", async () => {
  await using host = await ScriptedHost.open();
  host.processes.places.set(SECRET_TOOL, "/usr/bin/secret-tool");
  host.processes.expect(SECRET_TOOL, /^store/, { code: 1, stderr: "Cannot autolaunch D-Bus" });
  const stored = await storeCredential(
    { host, folder: plainGuestFolder(`${host.root}/g`), key: "vm-1" },
    { user: "a", password: PASSWORD },
    signal,
  );
  assert.equal(stored, "file");
});

Deno.test("a damaged file is said without its content", async () => {
  await using host = await ScriptedHost.open();
  await Deno.writeTextFile(`${host.root}/credential.json`, `{"user": 1, "password": "hunter2"`);
  const failure = await failureOf(
    "hv.io",
    () => readStoredLogin({ host, folder: plainGuestFolder(host.root), key: "vm-1" }),
  );
  assert.doesNotMatch(JSON.stringify(failure.toEnvelope()), /hunter2/);
});

Deno.test("each user has a login, the last one is the usual, and a driver's store goes before the file", async () => {
  await using host = await ScriptedHost.open();
  const kept = new Map<string, string>();
  const store: SecretStore = {
    name: "credential_manager",
    write: (key, user, secret) => Promise.resolve(void kept.set(`${key} ${user}`, secret)),
    read: (key, user) => Promise.resolve(kept.get(`${key} ${user}`)),
    remove: (key, user) => Promise.resolve(void kept.delete(`${key} ${user}`)),
  };
  const plain = { host, folder: plainGuestFolder(`${host.root}/guest`), key: "vm-1" };
  const place = { ...plain, store };
  assert.equal(await storeCredential(plain, { user: "first", password: "1" }, signal), "file");
  assert.equal(
    await storeCredential(place, { user: "second", password: PASSWORD }, signal),
    "credential_manager",
  );
  assert.deepEqual([...kept], [["vm-1 second", PASSWORD]]);
  assert.doesNotMatch(await Deno.readTextFile(`${plain.folder.path}/credential.json`), /s3cr/);
  const second = await readStoredLogin(place);
  assert.equal(second?.user, "second");
  assert.equal(await readSecret(place, second ?? { user: "" }), PASSWORD);
  assert.equal(await readSecret(place, await readStoredLogin(place, "first") ?? { user: "" }), "1");
  assert.equal(await readStoredLogin(place, "third"), undefined);
  kept.clear();
  await failureOf("hv.guest_auth", () => readSecret(place, second ?? { user: "" }));
  assert.equal(await forgetCredential(place, "second", signal), true);
  assert.equal((await readStoredLogin(place))?.user, "first");
  assert.equal(await forgetCredential(place, undefined, signal), true);
  await assert.rejects(Deno.stat(`${plain.folder.path}/credential.json`), Deno.errors.NotFound);
});

Deno.test("a VM that has been removed gets no login, in no store, and no folder", () =>
  withQemu(async ({ host, context, records, addVm }) => {
    const { id } = await addVm();
    await Deno.remove(context.state.vm(id), { recursive: true });
    const kept: string[] = [];
    const store: SecretStore = {
      name: "credential_manager",
      write: (key) => Promise.resolve(void kept.push(key)),
      read: () => Promise.resolve(undefined),
      remove: () => Promise.resolve(),
    };
    const place = { host, folder: openGuestFolder(context, id), key: id, store };
    const storing = () => storeCredential(place, { user: "root", password: PASSWORD }, signal);
    const failure = await failureOf("hv.not_found", storing);
    assert.match(failure.message, /has been removed$/);
    assert.deepEqual([kept, (await records.list()).damaged], [[], []]);
  }));
