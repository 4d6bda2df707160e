import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";

const CONFIG = {
  ...DEFAULT_CONFIG,
  policy: { ...DEFAULT_CONFIG.policy, exec_without_plan: ["free"], folders: ["/"] },
};

Deno.test("no call gives a VM the name that the policy frees of plan tokens", async () => {
  const openDriver = (): Promise<MemoryDriver> => Promise.resolve(new MemoryDriver());
  await using lab = await Lab.open({ openDriver, image: "tiny", door: "mcp", config: CONFIG });
  await lab.call("vm_create", { name: "web", image: "tiny" });
  await lab.call("vm_export", { vm: "web", folder: "/out" });
  for (
    const [tool, args] of [
      ["vm_rename", { vm: "web", name: "free" }],
      ["vm_clone", { vm: "web", name: "free" }],
      ["vm_import", { folder: "/out", name: "free" }],
      ["vm_adopt", { locator: "/theirs", name: "free" }],
      // In memory a foreign VM has its locator's name.
      ["vm_adopt", { locator: "free" }],
    ] as const
  ) assert.equal((await lab.failure(tool, args)).code, "hv.policy_denied", tool);
  assert.deepEqual(await lab.names(), ["web"]);
  await lab.call("vm_create", { name: "free", image: "tiny" });
});

Deno.test("whoever types on the command line gives any name", async () => {
  const openDriver = (): Promise<MemoryDriver> => Promise.resolve(new MemoryDriver());
  await using lab = await Lab.open({ openDriver, image: "tiny", config: CONFIG });
  await lab.call("vm_create", { name: "web", image: "tiny" });
  assert.equal((await lab.vm("vm_rename", { vm: "web", name: "free" })).name, "free");
});

Deno.test("a VM of somebody else is taken only where the policy allows the VM as it is", async () => {
  const openDriver = (): Promise<MemoryDriver> => Promise.resolve(new MemoryDriver());
  const config = { ...CONFIG, policy: { ...CONFIG.policy, vms: ["web"] } };
  for (const door of ["cli", "mcp"] as const) {
    await using lab = await Lab.open({ openDriver, image: "tiny", door, config });
    for (const args of [{ locator: "theirs" }, { locator: "theirs", name: "web" }]) {
      assert.equal((await lab.failure("vm_adopt", args)).code, "hv.policy_denied", JSON.stringify(args));
      assert.deepEqual(await lab.names(), []);
    }
    assert.equal((await lab.call("vm_adopt", { locator: "web" })).name, "web");
    assert.equal((await lab.call("vm_adopt", { locator: "web", name: "web" })).name, "web");
  }
});

Deno.test("a refused adoption leaves a VM that was adopted before as it is", async () => {
  const driver = new MemoryDriver();
  const openDriver = (): Promise<MemoryDriver> => Promise.resolve(driver);
  const scope = { signal: AbortSignal.timeout(60_000), progress: () => {} };
  for (const locator of ["prod", "free"]) await driver.adoption.adopt({ locator }, scope);
  const config = { ...CONFIG, policy: { ...CONFIG.policy, vms: ["web", "free"] } };
  await using lab = await Lab.open({ openDriver, image: "tiny", door: "mcp", config });
  for (const args of [{ locator: "prod" }, { locator: "prod", name: "x" }, { locator: "free" }]) {
    assert.equal((await lab.failure("vm_adopt", args)).code, "hv.policy_denied", JSON.stringify(args));
    assert.deepEqual((await driver.vms.list()).vms.map(({ name }) => name).sort(), ["free", "prod"]);
  }
});

Deno.test("a new VM over a disk that is there already gets no name that the policy frees", async () => {
  const openDriver = (): Promise<MemoryDriver> => Promise.resolve(new MemoryDriver());
  await using lab = await Lab.open({ openDriver, image: "tiny", door: "mcp", config: CONFIG });
  for (const disk of [{ disk: "/d.vhdx" }, { parent_disk: "/d.vhdx" }]) {
    const { code } = await lab.failure("vm_create", { name: "free", ...disk });
    assert.equal(code, "hv.policy_denied", JSON.stringify(disk));
  }
  const narrow = { ...CONFIG, policy: { ...CONFIG.policy, folders: ["/srv"] } };
  await using other = await Lab.open({ openDriver, image: "tiny", door: "mcp", config: narrow });
  assert.equal((await other.failure("vm_create", { name: "web", disk: "/d.vhdx" })).code, "hv.policy_denied");
});
