import assert from "node:assert/strict";
import { SSH_KEYGEN } from "../../../../src/guest/ssh/client.ts";
import { prepareSshFolder } from "../../../../src/guest/ssh/keys.ts";
import { failureOf } from "../../../support/failures.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

const signal = new AbortController().signal;

/** Has the next run of `ssh-keygen` write a pair. */
function expectKeygen(host: ScriptedHost, folder: string): void {
  host.processes.expect(SSH_KEYGEN, /^-q -t ed25519/);
  const { run } = host.processes;
  host.processes.run = async (program, args, options) => {
    const path = args.at(-1) ?? "";
    assert.ok(path.startsWith(`${folder}/new-`));
    await Deno.writeTextFile(path, "secret");
    await Deno.writeTextFile(`${path}.pub`, "ssh-ed25519 AAAA hvlab\n");
    return await run.call(host.processes, program, args, options);
  };
}

Deno.test("a guest gets one key in a private folder, however often it is asked for", async () => {
  await using host = await ScriptedHost.open();
  const folder = `${host.root}/guest/ssh`;
  expectKeygen(host, folder);
  const asked = [1, 2, 3].map(() => prepareSshFolder(host, folder, signal));
  assert.deepEqual(new Set(await Promise.all(asked)), new Set(["ssh-ed25519 AAAA hvlab"]));
  assert.equal(await Deno.readTextFile(`${folder}/id_ed25519`), "secret");
  assert.deepEqual(
    [`${host.root}/guest`, folder, `${folder}/ask_password`].map((path) =>
      (Deno.statSync(path).mode ?? 0) & 0o777
    ),
    [0o700, 0o700, 0o700],
  );
});

Deno.test("a VM that was removed meanwhile does not come back as a folder with a key", async () => {
  await using host = await ScriptedHost.open();
  await Deno.mkdir(`${host.root}/vms`);
  await failureOf("hv.not_found", () => prepareSshFolder(host, `${host.root}/vms/vm-1/guest/ssh`, signal));
  assert.deepEqual([...Deno.readDirSync(`${host.root}/vms`)], []);
});

Deno.test("nor does one that is removed while its key is asked for", async () => {
  await using host = await ScriptedHost.open();
  await Deno.mkdir(`${host.root}/vms/vm-1`, { recursive: true });
  const { take } = host.locks;
  host.locks.take = async (path, ...rest) => {
    await Deno.remove(`${host.root}/vms/vm-1`, { recursive: true });
    return await take.call(host.locks, path, ...rest);
  };
  await failureOf("hv.not_found", () => prepareSshFolder(host, `${host.root}/vms/vm-1/guest/ssh`, signal));
  assert.deepEqual([...Deno.readDirSync(`${host.root}/vms`)], []);
});
