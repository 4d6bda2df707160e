import assert from "node:assert/strict";
import {
  forgetCredential,
  readSecret,
  readStoredLogin,
  SECRET_TOOL,
  storeCredential,
} from "../../../src/guest/credentials.ts";
import { failureOf } from "../../support/failures.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const PASSWORD = `s3cr"e t'\\é`;
const signal = new AbortController().signal;

Deno.test("without a desktop's store a password lies in a file of this user alone", async () => {
  await using host = await ScriptedHost.open();
  const folder = `${host.root}/guest`;
  assert.equal(
    await storeCredential(host, folder, "vm-1", { user: "root", password: PASSWORD }, signal),
    "file",
  );
  const { mode } = await Deno.stat(`${folder}/credential.json`);
  assert.equal((mode ?? 0) & 0o777, 0o600);
  const login = await readStoredLogin(host, folder, "vm-1");
  assert.deepEqual(login, { user: "root", password: { kind: "stored", key: "vm-1" } });
  assert.equal(await readSecret(host, folder, login ?? { user: "" }), PASSWORD);
  assert.equal(await forgetCredential(host, folder, "vm-1", signal), true);
  assert.equal(await forgetCredential(host, folder, "vm-1", signal), false);
  assert.equal(await readStoredLogin(host, folder, "vm-1"), undefined);
});

Deno.test("the desktop's store gets the password on its input, never as an argument", async () => {
  await using host = await ScriptedHost.open();
  const folder = `${host.root}/guest`;
  host.processes.places.set(SECRET_TOOL, "/usr/bin/secret-tool");
  const words = ["application", "hvlab", "guest", "vm-1", "user", "root"];
  host.processes.expect(SECRET_TOOL, ["store", "--label=hvlab guest vm-1", ...words]);
  host.processes.expect(SECRET_TOOL, ["lookup", ...words], { stdout: PASSWORD });
  assert.equal(
    await storeCredential(host, folder, "vm-1", { user: "root", password: PASSWORD }, signal),
    "libsecret",
  );
  assert.doesNotMatch(await Deno.readTextFile(`${folder}/credential.json`), /s3cr/);
  host.processes.expect(SECRET_TOOL, ["lookup", ...words], { stdout: PASSWORD });
  const login = { user: "root", password: { kind: "stored", key: "vm-1" } } as const;
  assert.equal(await readSecret(host, folder, login), PASSWORD);
});

Deno.test("a store that is locked leaves the file", async () => {
  await using host = await ScriptedHost.open();
  host.processes.places.set(SECRET_TOOL, "/usr/bin/secret-tool");
  host.processes.expect(SECRET_TOOL, /^store/, { code: 1, stderr: "Cannot autolaunch D-Bus" });
  const stored = await storeCredential(
    host,
    `${host.root}/g`,
    "vm-1",
    { user: "a", password: PASSWORD },
    signal,
  );
  assert.equal(stored, "file");
});

Deno.test("a damaged file is said without its content", async () => {
  await using host = await ScriptedHost.open();
  await Deno.writeTextFile(`${host.root}/credential.json`, `{"user": 1, "password": "hunter2"`);
  const failure = await failureOf("hv.io", () => readStoredLogin(host, host.root, "vm-1"));
  assert.doesNotMatch(JSON.stringify(failure.toEnvelope()), /hunter2/);
});
