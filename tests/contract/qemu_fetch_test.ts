/** Images from a web server, honest or not, and calls that are killed on the way. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { ImageFetch } from "../../src/drivers/image_store_abilities.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import type { Image } from "../../src/contract/image.ts";
import { type FileServer, PLACES, serveFile } from "../support/file_server.ts";
import { qcow2File, vhdxFile } from "../support/disk_writer.ts";
import { mortalHost } from "../support/mortal_host.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const MIB = 1024 * 1024;
const BODY = new Uint8Array(MIB).map((_, index) => (index * 7) % 251);

interface Scene {
  lab: QemuLab;
  server: FileServer;
  fetch(place: string, changes?: Partial<ImageFetch>, driver?: Driver): Promise<Image>;
  failure(place: string, changes?: Partial<ImageFetch>): Promise<HvError>;
  /** What lies where images do. */
  names(): string[];
}

function fetchTest(promise: string, body: Uint8Array, work: (scene: Scene) => Promise<void>): void {
  qemuTest(promise, async (lab) => {
    await using server = serveFile(body);
    const sha256 = await digestOf(body);
    const fetch: Scene["fetch"] = async (place, changes, driver = lab.driver) => {
      const { imageStore } = driver;
      assert.ok(imageStore !== undefined);
      const wish = { name: "cloud", url: server.url(place), sha256, max_bytes: 8 * MIB, stall_s: 30 };
      return await imageStore.fetch({ ...wish, allow: () => {}, ...changes }, lab.scope);
    };
    await work({
      lab,
      server,
      fetch,
      async failure(place, changes) {
        try {
          await fetch(place, changes);
        } catch (error) {
          if (error instanceof HvError) return error;
          throw error;
        }
        throw new Error(`${place} was expected to fail`);
      },
      names: () =>
        [...Deno.readDirSync(lab.state.images)].map(({ name }) => name).filter((name) => name !== "tiny"),
    });
  });
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes.slice());
  return new Uint8Array(digest).toHex();
}

fetchTest("a download goes on where it broke off, until it is whole", BODY, async (scene) => {
  const { lab: { driver, scope }, server, fetch, failure, names } = scene;
  for (const [place, code] of [["/nothing", "hv.not_found"], [PLACES.loop, "hv.unavailable"]] as const) {
    assert.equal((await failure(place)).code, code);
    assert.deepEqual(names(), []);
  }
  assert.equal((await failure(PLACES.half)).code, "hv.unavailable");
  for (const place of [PLACES.stalling, PLACES.silent]) {
    const stalled = await failure(place, { stall_s: 0.2 });
    assert.deepEqual([stalled.code, stalled.context.reason], ["hv.unavailable", "stalled"], place);
  }
  const { images, warnings } = await driver.images?.list(scope.signal) ?? { images: [], warnings: [] };
  assert.deepEqual(images.map(({ name }) => name), ["tiny"]);
  assert.match(warnings.join(), /A fetch of "cloud" is under way or did not end/);
  const image = await fetch(PLACES.redirect);
  // What was given up in silence may be read by the server only now.
  const asked = server.requests.filter((line) =>
    [PLACES.redirect, PLACES.whole].some((place) => line.startsWith(place))
  );
  assert.deepEqual(asked.map((line) => line.replace(/\d+/, "N")), [
    `${PLACES.redirect} from N`,
    `${PLACES.whole} from N`,
  ]);
  assert.deepEqual([image.kind, image.files[0]?.format, image.files[0]?.size_bytes], ["disk", "raw", MIB]);
  assert.deepEqual(await Deno.readFile(image.files[0]?.path ?? ""), BODY);
  assert.deepEqual(names(), ["cloud"]);
  assert.equal((await driver.templates?.verify("cloud", scope))?.sound, true);
  assert.equal((await failure(PLACES.whole)).code, "hv.conflict");
});

fetchTest("a server that lies gets nothing in, and leaves nothing", BODY, async (scene) => {
  const { fetch, failure, names, server } = scene;
  const wrong = await failure(PLACES.wrong);
  assert.deepEqual([wrong.code, wrong.context.reason], ["hv.bad_image", "digest_mismatch"]);
  for (const [place, max_bytes] of [[PLACES.boasting, 8 * MIB], [PLACES.open, MIB / 2]] as const) {
    const large = await failure(place, { max_bytes });
    assert.deepEqual([large.code, large.context.reason], ["hv.bad_image", "too_large"], place);
    assert.deepEqual(names(), []);
  }
  // What came from one server is worth nothing to another that does not know how to go on, and does no harm.
  await failure(PLACES.half);
  await fetch(PLACES.withoutRanges);
  assert.match(server.requests.at(-1) ?? "", / from \d+$/);
  const asked: string[] = [];
  const refused = await failure(PLACES.redirect, {
    name: "other",
    allow: (url) => {
      asked.push(new URL(url).pathname);
      if (asked.length > 1) throw new HvError("hv.policy_denied", "not there");
    },
  });
  assert.deepEqual([refused.code, asked], ["hv.policy_denied", [PLACES.redirect, PLACES.whole]]);
  assert.deepEqual(names(), ["cloud"]);
});

const LURE = qcow2File({ backing: "/etc/passwd", backingFormat: "raw" });
fetchTest("no image from elsewhere leans on a file of this host", LURE, async ({ failure, names }) => {
  const error = await failure(PLACES.whole);
  assert.deepEqual([error.code, error.context.reason], ["hv.bad_image", "backing_file"]);
  assert.deepEqual(names(), []);
});

const LYING = vhdxFile({ id: "01234567-89ab-cdef-0123-456789abcdef" });
fetchTest("an image is what its contents say, whatever its address looks like", LYING, async (scene) => {
  // It is a VHDX that has no data, so that reading it as one fails.
  assert.equal((await scene.failure(PLACES.whole)).code, "hv.job_failed");
  assert.ok(scene.names().every((name) => name.startsWith(".")));
});

fetchTest("killed between any two steps, a fetch leaves an image whole or none", BODY, async (scene) => {
  const { lab, fetch, names } = scene;
  const { driver, host: real, state, findings, scope } = lab;
  for (let life = 0;; life++) {
    const { host, steps, isDead } = mortalHost(real, life);
    const mortal = openQemuDriver({ host, state, config: DEFAULT_CONFIG, findings });
    try {
      await fetch(PLACES.whole, {}, mortal);
    } catch (error) {
      if (!isDead()) throw error;
    } finally {
      await mortal.close();
    }
    const when = `after ${steps.join(", ")}`;
    const isThere = names().includes("cloud");
    assert.equal((await driver.images?.list(scope.signal))?.images.length, isThere ? 2 : 1, when);
    if (isThere) assert.equal((await driver.templates?.verify("cloud", scope))?.sound, true, when);
    else await fetch(PLACES.whole);
    await driver.imageStore?.remove("cloud", scope);
    assert.deepEqual(names(), [], when);
    assert.deepEqual(
      [...Deno.readDirSync(state.locks)].filter(({ name }) => name.startsWith("image-")),
      [],
      when,
    );
    if (isDead()) continue;
    assert.ok(life > 5, `a fetch has ${life} steps`);
    break;
  }
});

fetchTest("an image that something leans on stays", BODY, async ({ lab, fetch, names }) => {
  const { driver, scope, state } = lab;
  await fetch(PLACES.whole);
  const id = await driver.vms.create(lab.vm({ image: "cloud", memory_mb: 16 }), scope);
  const path = `${state.root}/child.qcow2`;
  const parent = `${state.images}/cloud/disk.img`;
  await driver.disks?.create({ path, type: "differencing", parent }, scope);
  const remove = async (): Promise<unknown> => await driver.imageStore?.remove("cloud", scope);
  await assert.rejects(remove, /the VM "web", the disk ".*child\.qcow2" needs it/);
  for (
    const work of [
      () => driver.disks?.attach(id, parent, {}, scope),
      () => driver.disks?.resize(parent, 4 * MIB, scope),
      () => driver.disks?.create({ path: parent, type: "dynamic", size_bytes: MIB, overwrite: true }, scope),
      () => driver.disks?.remove(parent, scope),
    ]
  ) await assert.rejects(async () => await work(), { code: "hv.conflict" });
  await driver.vms.remove(id, scope);
  await assert.rejects(remove, /the disk ".*child\.qcow2" needs it/);
  await assert.rejects(
    async () => await driver.disks?.merge(path, false, scope),
    /an image's, which is never written/,
  );
  await driver.disks?.remove(path, scope);
  await remove();
  assert.deepEqual(names(), []);
});
