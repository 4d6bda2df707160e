import assert from "node:assert/strict";
import { joinPath, resolvePath } from "../../../src/base/paths.ts";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { HvError } from "../../../src/base/errors.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import type { Host } from "../../../src/host/host.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function hostWithConfigFolder(folder: string): Host {
  const host = openDenoHost();
  const environment: Host["environment"] = {
    get: (name) => host.environment.get(name),
    configFolder: () => folder,
    stateFolder: () => `${folder}/state`,
    runtimeFolder: () => `${folder}/run`,
  };
  return { ...host, environment };
}

/** A host with another working folder; this process has one for all the tests that run beside each other in it. */
function workingIn(folder: string, host: Host): Host {
  const { files } = host;
  const whole = (path: string): string => resolvePath(folder, path);
  return {
    ...host,
    files: {
      ...files,
      stat: (path, options) => files.stat(whole(path), options),
      realPath: (path) => files.realPath(whole(path)),
    },
  };
}

async function failureOf(work: Promise<unknown>): Promise<HvError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HvError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

Deno.test("without a file the configuration is the default, and nothing is made", () =>
  withTemporaryFolder(async (folder) => {
    assert.equal(await loadConfig(hostWithConfigFolder(`${folder}/none`)), DEFAULT_CONFIG);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

Deno.test("without the platform's variables the configuration is the default", async () => {
  const host = openDenoHost();
  const environment: Host["environment"] = {
    get: () => undefined,
    configFolder: () => {
      throw new HvError("hv.unavailable", "The environment variable HOME is not set");
    },
    stateFolder: () => "",
    runtimeFolder: () => "",
  };
  assert.equal(await loadConfig({ ...host, environment }), DEFAULT_CONFIG);
});

Deno.test("the file in the config folder is read, and one in the working folder is not", () =>
  withTemporaryFolder(async (folder) => {
    await Deno.mkdir(`${folder}/config`);
    await Deno.mkdir(`${folder}/work`);
    await Deno.writeTextFile(`${folder}/work/hvlab.yaml`, "policy: {mode: read-only}\n");
    const host = hostWithConfigFolder(joinPath(folder, "config"));
    assert.equal(await loadConfig(workingIn(`${folder}/work`, host)), DEFAULT_CONFIG);
    await Deno.writeTextFile(`${folder}/config/hvlab.yaml`, "driver: memory\n");
    const config = await loadConfig(host);
    assert.equal(config.driver, "memory");
    assert.equal(config.file, joinPath(folder, "config", "hvlab.yaml"));
    assert.deepEqual({ ...config, driver: null, file: null }, DEFAULT_CONFIG);
  }));

Deno.test("a file named with --config must exist, and wins over the usual one", () =>
  withTemporaryFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/hvlab.yaml`, "driver: usual\n");
    await Deno.writeTextFile(`${folder}/other.yaml`, "driver: other\n");
    const host = hostWithConfigFolder(folder);
    assert.equal((await loadConfig(host, { path: `${folder}/other.yaml` })).driver, "other");
    const error = await failureOf(loadConfig(host, { path: `${folder}/gone.yaml` }));
    assert.equal(error.code, "hv.not_found");
    assert.ok(error.message.includes(`${folder}/gone.yaml`));
    assert.equal((await failureOf(loadConfig(host, { path: "" }))).code, "hv.not_found");
  }));

Deno.test("a relative --config is relative to the working folder, its paths to the file's folder", () =>
  withTemporaryFolder(async (folder) => {
    await Deno.mkdir(`${folder}/sub`);
    await Deno.writeTextFile(`${folder}/sub/lab.yaml`, "state: ../state\n");
    const host = workingIn(folder, hostWithConfigFolder(folder));
    const config = await loadConfig(host, { path: "sub/lab.yaml" });
    assert.equal(config.file, joinPath(folder, "sub", "lab.yaml"));
    assert.equal(config.state, joinPath(folder, "state"));
  }));

/** Wine shows nothing where such a link lies, and Windows gives the right to make one to administrators only. */
const hasNoLinks = Deno.build.os === "windows";

Deno.test(
  "a link to nowhere in the config folder is an error, not the default",
  { ignore: hasNoLinks },
  () =>
    withTemporaryFolder(async (folder) => {
      await Deno.symlink(`${folder}/gone`, `${folder}/hvlab.yaml`, { type: "file" });
      assert.equal((await failureOf(loadConfig(hostWithConfigFolder(folder)))).code, "hv.not_found");
    }),
);

Deno.test("a folder or a huge file in place of the configuration is refused", () =>
  withTemporaryFolder(async (folder) => {
    const host = hostWithConfigFolder(folder);
    assert.equal((await failureOf(loadConfig(host, { path: folder }))).code, "hv.usage");
    using file = await Deno.open(`${folder}/huge.yaml`, { write: true, create: true });
    await file.truncate(2 * 1024 * 1024);
    const error = await failureOf(loadConfig(host, { path: `${folder}/huge.yaml` }));
    assert.equal(error.code, "hv.usage");
    assert.match(error.message, /larger than 1 MiB/);
  }));
