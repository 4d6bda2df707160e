import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import {
  findLeftovers,
  inspectPermissions,
  inspectStateFolder,
  inspectStore,
} from "../../../src/flows/host_checks.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import type { Host } from "../../../src/host/host.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStore } from "../../../src/state/store.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function hostOf(user: number, mayRun = true): Host {
  const host = openDenoHost();
  return {
    ...host,
    machine: { ...host.machine, userId: () => user },
    permissions: { ...host.permissions, canRun: () => mayRun },
  };
}

Deno.test("a state folder that is missing is fine, a file in its place is not", () =>
  withTemporaryFolder(async (folder) => {
    const host = openDenoHost();
    const missing = await inspectStateFolder(host, new StateFolder(`${folder}/a/b`));
    assert.equal(missing.status, "ok");
    assert.ok(missing.finding.includes(`below "${folder}"`), missing.finding);
    await Deno.writeTextFile(`${folder}/file`, "");
    const inTheWay = await inspectStateFolder(host, new StateFolder(`${folder}/file`));
    assert.equal(inTheWay.status, "broken");
    assert.ok(inTheWay.fix);
  }));

Deno.test("a store is fine when missing or sound, and broken with a fix when damaged", () =>
  withTemporaryFolder(async (folder) => {
    const [host, state] = [openDenoHost(), new StateFolder(`${folder}/state`)];
    assert.equal((await inspectStore(host, state)).status, "ok");
    assert.equal(await host.files.stat(state.root), undefined, "it only looks");
    (await openStore(host, state)).close();
    assert.equal((await inspectStore(host, state)).status, "ok");

    const bytes = await Deno.readFile(state.database);
    const damages = [
      bytes.slice(0, bytes.length / 2),
      bytes.slice().fill(0xa5, 4096),
      bytes.slice().fill(0xa5),
    ];
    for (const damaged of damages) {
      await Deno.writeFile(state.database, damaged);
      const finding = await inspectStore(host, state);
      assert.equal(finding.status, "broken");
      assert.match(finding.finding, /damaged/);
      assert.match(finding.fix ?? "", /moves it aside/);
      assert.deepEqual(await Deno.readFile(state.database), damaged);
    }
  }));

/** Windows has no user ids. */
const withoutUsers = Deno.build.os === "windows";

Deno.test(
  "a state folder of somebody else is broken, an own one is fine",
  { ignore: withoutUsers },
  () =>
    withTemporaryFolder(async (folder) => {
      const owner = (await Deno.stat(folder)).uid ?? 0;
      await Deno.chmod(folder, 0o700);
      const state = new StateFolder(`${folder}/state`);
      const stranger = await inspectPermissions(hostOf(owner + 1), state, DEFAULT_CONFIG);
      assert.equal(stranger.status, "broken");
      assert.match(stranger.finding, /may not write/);
      assert.equal((await inspectPermissions(hostOf(owner), state, DEFAULT_CONFIG)).status, "ok");
    }),
);

Deno.test("a configured program that may not be started is a warning with its path", () =>
  withTemporaryFolder(async (folder) => {
    const config = { ...DEFAULT_CONFIG, programs: new Map([["qemu-img", "/opt/qemu/qemu-img"]]) };
    const finding = await inspectPermissions(hostOf(0, false), new StateFolder(folder), config);
    assert.equal(finding.status, "warning");
    assert.match(finding.finding, /\/opt\/qemu\/qemu-img/);
  }));

Deno.test("leftovers are counted, and their fix is named", async () => {
  let now = 0;
  const driver = new MemoryDriver({ now: () => now });
  const signal = AbortSignal.timeout(300_000);
  assert.equal((await findLeftovers(driver, signal)).status, "ok");
  await driver.sandboxes.create({
    name: "a",
    image: "tiny",
    memory_mb: 64,
    cpus: 1,
    ttl_s: 60,
    tiedToUs: false,
  });
  now = 61_000;
  const finding = await findLeftovers(driver, signal);
  assert.equal(finding.status, "warning");
  assert.match(finding.fix ?? "", /vm cleanup/);
});
