import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { Lab } from "../../contract/lab.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";

async function refusalOf(
  args: { on_crash?: string; output: (root: string) => string },
  prepare: (root: string) => void = () => {},
): Promise<{ code: string; message: string; hint: string | undefined; root: string }> {
  const driver = new MemoryDriver();
  let made = 0;
  const { create } = driver.sandboxes;
  driver.sandboxes.create = (spec) => {
    made++;
    return create(spec);
  };
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  prepare(lab.root);
  const { code, message, hint } = await lab.failure("sandbox_run", {
    image: "tiny",
    argv: ["true"],
    ...args,
    output: args.output(lab.root),
  });
  assert.equal(made, 0);
  return { code, message, hint, root: lab.root };
}

Deno.test("a folder that holds an earlier crash is refused before there is a sandbox", async () => {
  for (const file of ["memory.elf", "console.log", "kernel.log", "triage.json"]) {
    const { code, message, root } = await refusalOf(
      { on_crash: "collect", output: (folder) => `${folder}/cr` },
      (folder) => {
        Deno.mkdirSync(`${folder}/cr`);
        Deno.writeTextFileSync(`${folder}/cr/${file}`, "of yesterday");
      },
    );
    assert.deepEqual([code, message], [
      "hv.conflict",
      `Cannot keep a crash in "${root}/cr": it holds "${file}" already`,
    ]);
  }
});

Deno.test("a file in the place of the crash's folder is refused as well", async () => {
  const { code, message } = await refusalOf(
    { on_crash: "triage", output: (root) => `${root}/cr` },
    (root) => Deno.writeTextFileSync(`${root}/cr`, ""),
  );
  assert.equal(code, "hv.conflict");
  assert.match(message, /it is a file$/);
});

Deno.test("a folder for what is not kept is refused", async () => {
  for (const args of [{}, { on_crash: "stop" }]) {
    const { code, hint } = await refusalOf({ ...args, output: (root) => `${root}/cr` });
    assert.equal(code, "hv.usage");
    assert.match(hint ?? "", /--on-crash collect/);
  }
});

/** A driver that cannot remove a VM the first time. */
function driverThatKeepsOne(): MemoryDriver {
  const driver = new MemoryDriver();
  const { remove } = driver.vms;
  driver.vms.remove = () => {
    driver.vms.remove = remove;
    return Promise.reject(new HvError("hv.io", "The disk is gone"));
  };
  return driver;
}

Deno.test("what a program did is told although its sandbox cannot be removed", async () => {
  const driver = driverThatKeepsOne();
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  const { signal } = new AbortController();
  const answer = await lab.pipeline.call(
    { tool: "sandbox_run", args: { image: "tiny", argv: ["false"] } },
    { signal, progress: () => {} },
  );
  assert.ok(answer.kind === "done");
  assert.equal(answer.result.exit_code, 1);
  const [id] = driver.machines.keys();
  assert.deepEqual(answer.warnings, [`The sandbox ${id} could not be removed: The disk is gone`]);
});

Deno.test("a failure within a sandbox stands when that cannot be removed, and names it", async () => {
  const driver = driverThatKeepsOne();
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  const failure = await lab.failure("sandbox_run", { image: "tiny", argv: ["no-such-program"] });
  const [id] = driver.machines.keys();
  assert.deepEqual([failure.code, failure.context.vm], ["hv.not_found", id]);
  assert.match(failure.hint ?? "", /could not be removed$/);
});
