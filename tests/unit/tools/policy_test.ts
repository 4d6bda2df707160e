import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import type { Vm } from "../../../src/contract/vm.ts";
import { type Config, DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { checkDownload } from "../../../src/tools/download_policy.ts";
import { checkTool, checkVm, checkWrite, mayRunWithoutPlan } from "../../../src/tools/policy.ts";
import { catalogue } from "../../../src/tools/table.ts";
import { joinPath } from "../../../src/base/paths.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

function withPolicy(policy: Partial<Config["policy"]>): Config {
  return { ...DEFAULT_CONFIG, policy: { ...DEFAULT_CONFIG.policy, ...policy } };
}

function isDenied(error: unknown): boolean {
  return error instanceof HvError && error.code === "hv.policy_denied";
}

Deno.test("downloads come from below the named addresses only, as a server reads them", () => {
  const config = withPolicy({ downloads: ["https://example.org/images", "http://127.0.0.1:8080/"] });
  const good = [
    "https://example.org/images",
    "https://example.org/images/a/b.qcow2?x=1",
    "https://EXAMPLE.org:443/images/c",
    "http://127.0.0.1:8080/any",
  ];
  const bad = [
    "http://example.org/images/a",
    "https://example.org/images-of-others/a",
    "https://example.org/images/../secret",
    "https://example.org/images/%2e%2e/secret",
    "https://example.org:8443/images/a",
    "https://example.org.evil.org/images/a",
    "https://example.org@evil.org/images/a",
    "http://127.0.0.1/any",
  ];
  for (const door of ["cli", "mcp"] as const) {
    for (const address of good) assert.doesNotThrow(() => checkDownload(config, door, address), address);
    for (const address of bad) assert.throws(() => checkDownload(config, door, address), isDenied, address);
  }
});

Deno.test("without a policy the command line may download from everywhere and MCP from nowhere", () => {
  assert.doesNotThrow(() => checkDownload(DEFAULT_CONFIG, "cli", "http://example.org/x"));
  assert.throws(() => checkDownload(DEFAULT_CONFIG, "mcp", "http://example.org/x"), isDenied);
});

/** Wine follows no link when it resolves a path, and Windows gives the right to make one to administrators only. */
const hasNoLinks = Deno.build.os === "windows";

Deno.test(
  "a link in an allowed folder opens no disk outside of it",
  { ignore: hasNoLinks },
  () =>
    withTemporaryFolder(async (root) => {
      await Deno.mkdir(`${root}/allowed`);
      await Deno.writeFile(`${root}/outside.img`, new Uint8Array(512));
      await Deno.writeFile(`${root}/allowed/inside.img`, new Uint8Array(512));
      await Deno.symlink(`${root}/outside.img`, `${root}/allowed/link.img`);
      const config = withPolicy({ folders: [`${root}/allowed`] });
      const host = openDenoHost();
      const check = async (tool: string, name: string): Promise<void> => {
        const more = tool === "disk_attach"
          ? { vm: "web" }
          : tool === "disk_resize"
          ? { size_bytes: 512 }
          : {};
        const prepared = (await catalogue.load(tool)).prepare({ path: `${root}/allowed/${name}`, ...more });
        for (const opened of prepared.opens()) {
          await checkWrite(config, host, "mcp", joinPath(opened, "file"));
        }
      };
      for (const tool of ["disk_resize", "disk_compact", "disk_merge", "disk_delete", "disk_attach"]) {
        await check(tool, "inside.img");
        await assert.rejects(
          () => check(tool, "link.img"),
          isDenied,
          tool,
        );
      }
    }),
);

/** Windows takes dots out of a path before it looks; `policy_windows_test.ts` is about that. */
const takesDotsAsText = Deno.build.os === "windows";

Deno.test(
  "a path that ends in dots is the folder that it leads to",
  { ignore: takesDotsAsText },
  () =>
    withTemporaryFolder(async (root) => {
      await Deno.mkdir(`${root}/allowed/sub`, { recursive: true });
      const config = withPolicy({ folders: [`${root}/allowed`] });
      const check = (path: string): Promise<void> => checkWrite(config, openDenoHost(), "mcp", root + path);
      for (
        const path of [
          "/allowed/x",
          "/allowed/",
          "/allowed/sub/..",
          "/allowed/.",
          "/allowed/..x",
          "/allowed/...",
        ]
      ) {
        await check(path);
      }
      const out = ["/allowed/..", "/allowed/sub/../..", "/allowed/../", "/allowed/../.", "/allowed/none/.."];
      for (const path of out) await assert.rejects(check(path), isDenied, path);
    }),
);

Deno.test("a call that is handed on has the class of the tool that it goes to", async () => {
  const config = withPolicy({ deny: { classes: ["X"], tools: [] } });
  const callTool = await catalogue.load("call");
  assert.doesNotThrow(() => checkTool(config, callTool));
  const withoutCall = withPolicy({ deny: { classes: [], tools: ["call"] } });
  assert.throws(() => checkTool(withoutCall, callTool), isDenied);
  const exec = await catalogue.load("guest_exec");
  assert.throws(() => checkTool(config, exec), isDenied);
});

Deno.test("a VM is allowed by its name, its id and its bare uuid", () => {
  const uuid = "0b3f2c1e-5a77-4e1b-9d5e-0f6a1c2b3d4e";
  const vm: Vm = {
    id: `vm-${uuid}`,
    name: "web",
    state: "off",
    driver: "memory",
    sandbox: false,
    managed: true,
    memory_mb: 64,
    cpus: 1,
  };
  for (const name of ["web", `vm-${uuid}`, uuid, uuid.toUpperCase()]) {
    assert.doesNotThrow(() => checkVm(withPolicy({ vms: [name] }), vm), name);
    assert.ok(mayRunWithoutPlan(withPolicy({ exec_without_plan: [name] }), "mcp", vm), name);
  }
  for (const name of ["Web", "we", `ckpt-${uuid}`, "*"]) {
    assert.throws(() => checkVm(withPolicy({ vms: [name] }), vm), isDenied, name);
  }
});

Deno.test(
  "a link in an allowed folder leads no written file out of it",
  { ignore: hasNoLinks },
  () =>
    withTemporaryFolder(async (root) => {
      await Deno.mkdir(`${root}/allowed/sub`, { recursive: true });
      await Deno.writeTextFile(`${root}/outside`, "");
      await Deno.writeTextFile(`${root}/allowed/sub/inside`, "");
      await Deno.symlink(`${root}/outside`, `${root}/allowed/out`);
      await Deno.symlink(`${root}/nowhere`, `${root}/allowed/nowhere`);
      await Deno.symlink(`${root}/allowed/sub/inside`, `${root}/allowed/in`);
      await Deno.symlink(`${root}/allowed/sub/inside`, `${root}/link`);
      const config = withPolicy({ folders: [`${root}/allowed`] });
      const check = (name: string): Promise<void> =>
        checkWrite(config, openDenoHost(), "mcp", `${root}/allowed/${name}`);
      await check("in");
      await assert.rejects(check("out"), isDenied);
      await assert.rejects(check("nowhere"), isDenied);
      // Who replaces a file writes beside the link.
      await assert.rejects(check("../link"), isDenied);
    }),
);
