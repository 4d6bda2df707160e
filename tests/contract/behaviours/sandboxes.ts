import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour(
  "a run in a sandbox answers like a program and leaves nothing",
  { needs: ["sandboxes"] },
  async ({ lab }) => {
    const result = await lab.call("sandbox_run", {
      image: lab.image,
      argv: ["sh", "-c", "echo out; echo err >&2; exit 7"],
      memory_mb: 256,
    });
    assert.equal(result.exit_code, 7);
    assert.equal(result.stdout, "out\n");
    assert.equal(result.stderr, "err\n");
    assert.deepEqual(await lab.names(), []);
    assert.deepEqual((await lab.call("vm_orphans")).orphans, []);
  },
);

behaviour(
  "a run that is to be kept leaves its sandbox running",
  { needs: ["sandboxes"] },
  async ({ lab }) => {
    const result = await lab.call("sandbox_run", {
      image: lab.image,
      argv: ["true"],
      keep: true,
      memory_mb: 256,
    });
    assert.equal(result.exit_code, 0);
    const { sandboxes } = await lab.call("sandbox_list");
    assert.ok(Array.isArray(sandboxes));
    assert.equal(sandboxes.length, 1);
  },
);

behaviour("files are in the sandbox before the program runs", { needs: ["sandboxes"] }, async ({ lab }) => {
  await Deno.writeTextFile(`${lab.root}/in`, "here\n");
  const copy = [`${lab.root}/in:/tmp/in`];
  const result = await lab.call("sandbox_run", {
    image: lab.image,
    argv: ["cat", "/tmp/in"],
    copy,
    memory_mb: 256,
  });
  assert.equal(result.stdout, "here\n");
});

behaviour("a failed run leaves no sandbox behind", { needs: ["sandboxes"] }, async ({ lab }) => {
  const argv = ["no-such-program"];
  assert.equal(
    (await lab.failure("sandbox_run", { image: lab.image, argv, memory_mb: 256 })).code,
    "hv.not_found",
  );
  assert.deepEqual(await lab.names(), []);
});

behaviour(
  "a sandbox is destroyed without a plan, a lasting VM is not",
  { needs: ["sandboxes"] },
  async ({ lab }) => {
    await lab.sandbox("a");
    await lab.call("vm_create", { name: "web", ...lab.source });
    assert.equal((await lab.failure("sandbox_destroy", { vm: "web" })).code, "hv.policy_denied");
    assert.equal((await lab.call("sandbox_destroy", { vm: "a" })).removed, true);
    assert.deepEqual(await lab.names(), ["web"]);
  },
);
