import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type Config, DEFAULT_CONFIG, type Policy } from "../../../src/config/config.ts";
import type { DoorName } from "../../../src/tools/tool.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { Lab } from "../../contract/lab.ts";

function configWith(policy: Partial<Policy>): Config {
  return { ...DEFAULT_CONFIG, policy: { ...DEFAULT_CONFIG.policy, ...policy } };
}

function open(door: DoorName = "cli", policy: Partial<Policy> = {}): Promise<Lab> {
  const driver = new MemoryDriver();
  return Lab.open({
    openDriver: () => Promise.resolve(driver),
    image: "tiny",
    door,
    config: configWith(policy),
  });
}

Deno.test("a reading call makes no state folder", async () => {
  await using lab = await open();
  await lab.call("vm_list");
  await lab.call("op_list");
  await lab.call("audit_tail");
  await assert.rejects(Deno.stat(`${lab.root}/state`), Deno.errors.NotFound);
});

Deno.test("a changing call is an operation and a line in the audit trail", async () => {
  await using lab = await open();
  const { id } = await lab.vm("vm_create", { name: "web", image: "tiny" });
  const { operations } = await lab.call("op_list");
  assert.ok(Array.isArray(operations));
  const [operation] = operations;
  assert.partialDeepStrictEqual(operation, { tool: "vm_create", target: id, state: "succeeded" });
  const { lines } = await lab.call("audit_tail");
  assert.partialDeepStrictEqual(lines, [{ tool: "vm_create", class: "M", door: "cli", target: id }]);
});

Deno.test("a failed call is recorded with its code and says its operation", async () => {
  await using lab = await open();
  const error = await lab.failure("vm_create", { name: "web", image: "nothing" });
  assert.match(String(error.context.op), /^op-/);
  const operation = await lab.call("op_wait", { op: String(error.context.op) });
  assert.partialDeepStrictEqual(operation, { state: "failed", error: { code: "hv.not_found" } });
});

Deno.test("an unknown argument is refused with the nearest name", async () => {
  await using lab = await open();
  const error = await lab.failure("vm_create", { name: "web", imge: "tiny" });
  assert.equal(error.code, "hv.usage");
  assert.match(error.message, /unknown argument "imge", did you mean "image"/);
});

Deno.test("a read-only policy refuses every change", async () => {
  await using lab = await open("cli", { mode: "read-only" });
  assert.equal((await lab.failure("vm_create", { name: "web", image: "tiny" })).code, "hv.policy_denied");
  assert.deepEqual((await lab.call("vm_list")).vms, []);
});

Deno.test("the policy can forbid a class, a tool and VMs", async () => {
  await using classes = await open("cli", { deny: { classes: ["X"], tools: [] } });
  assert.equal((await classes.failure("guest_exec", { vm: "a", argv: ["true"] })).code, "hv.policy_denied");
  await using tools = await open("cli", { deny: { classes: [], tools: ["vm_create"] } });
  assert.equal((await tools.failure("vm_create", { name: "a", image: "tiny" })).code, "hv.policy_denied");
  await using vms = await open("cli", { vms: ["web"] });
  await vms.call("vm_create", { name: "db", image: "tiny" });
  assert.equal((await vms.failure("vm_start", { vm: "db" })).code, "hv.policy_denied");
});

Deno.test("over MCP a program in a lasting VM needs a plan, in a sandbox it does not", async () => {
  await using lab = await open("mcp");
  await lab.running("web");
  const refused = await lab.failure("guest_exec", { vm: "web", argv: ["true"] });
  assert.equal(refused.code, "hv.plan_required");
  assert.match(refused.hint ?? "", /hv_plan/);
  const { confirm, preview } = await lab.plan("guest_exec", { vm: "web", argv: ["true"] });
  assert.match(preview.summary, /\["true"\]/);
  assert.equal((await lab.exec("web", ["true"], { confirm })).exit_code, 0);
  assert.equal(
    (await lab.failure("guest_exec", { vm: "web", argv: ["true"] }, { confirm })).code,
    "hv.plan_invalid",
  );
  await lab.sandbox("a");
  assert.equal((await lab.exec("a", ["true"])).exit_code, 0);
});

Deno.test("a reading call that writes a file stands in the audit trail as the change that it is", async () => {
  await using lab = await open("cli");
  await lab.running("web");
  await lab.call("console_screenshot", { vm: "web", output: `${lab.root}/shot.png` });
  const { lines } = await lab.call("audit_tail", { limit: 1 });
  assert.partialDeepStrictEqual(lines, [{ tool: "console_screenshot", class: "M" }]);
});

Deno.test("a token names the argument that differs", async () => {
  await using lab = await open("mcp");
  await lab.running("web");
  const { confirm } = await lab.plan("guest_exec", { vm: "web", argv: ["true"] });
  const error = await lab.failure("guest_exec", { vm: "web", argv: ["false"] }, { confirm });
  assert.match(error.message, /argument "argv"/);
});

Deno.test("a token names another tool, and is taken in no other form", async () => {
  await using lab = await open("mcp");
  await lab.running("web");
  const { confirm } = await lab.plan("vm_delete", { vm: "web" });
  const other = await lab.failure("vm_nmi", { vm: "web" }, { confirm });
  assert.match(other.message, /was made for another tool$/);
  for (const wrong of [`${confirm}:`, `${confirm}:x`, ` ${confirm}`, `${confirm}\n`, confirm.toUpperCase()]) {
    const error = await lab.failure("vm_delete", { vm: "web" }, { confirm: wrong });
    assert.deepEqual([error.code, error.context.differs], ["hv.plan_invalid", ["form"]], wrong);
  }
  assert.equal((await lab.call("vm_delete", { vm: "web" }, { confirm })).removed, true);
});

Deno.test("a value of the wrong type is told in the words of JSON", async () => {
  await using lab = await open("mcp");
  assert.match((await lab.failure("call", { tool: "vm_list", args: "{}" })).message, /one JSON object/);
  assert.match((await lab.failure("vm_start", { vm: 5 })).message, /a list/);
});

Deno.test("the policy can free a VM from plans over MCP, and demand them on the command line", async () => {
  await using free = await open("mcp", { exec_without_plan: ["web"] });
  await free.running("web");
  assert.equal((await free.exec("web", ["true"])).exit_code, 0);
  await using strict = await open("cli", { plan_for_exec_on_command_line: true });
  await strict.running("web");
  assert.equal((await strict.failure("guest_exec", { vm: "web", argv: ["true"] })).code, "hv.plan_required");
});

Deno.test("over MCP a name does not confirm a deletion", async () => {
  await using lab = await open("mcp");
  await lab.call("vm_create", { name: "web", image: "tiny" });
  assert.equal((await lab.failure("vm_delete", { vm: "web" }, { confirm: "web" })).code, "hv.plan_invalid");
});

Deno.test("over MCP files go nowhere unless the policy names a folder", async () => {
  await using closed = await open("mcp");
  await closed.sandbox("a");
  const pair = { vm: "a", source: "/x", destination: `${closed.root}/out` };
  assert.equal((await closed.failure("guest_copy_from", pair)).code, "hv.policy_denied");

  const allowed = await Deno.makeTempDir();
  await using lab = await open("mcp", { folders: [allowed] });
  await lab.sandbox("a");
  await Deno.writeTextFile(`${lab.root}/in`, "x");
  await lab.call("guest_copy_to", { vm: "a", source: `${lab.root}/in`, destination: "/x" });
  const outside = [`${allowed}/../x`, `${allowed}/none/../../x`, `${allowed}x`];
  if (Deno.build.os !== "windows") {
    await Deno.symlink(lab.root, `${allowed}/out`);
    outside.push(`${allowed}/out/x`);
  }
  for (const destination of outside) {
    const error = await lab.failure("guest_copy_from", { vm: "a", source: "/x", destination });
    assert.equal(error.code, "hv.policy_denied", destination);
  }
  await lab.call("guest_copy_from", { vm: "a", source: "/x", destination: `${allowed}/x` });
  assert.equal(await Deno.readTextFile(`${allowed}/x`), "x");
  await Deno.remove(allowed, { recursive: true });
});

Deno.test("over MCP no folder is shared with a guest unless the policy names it", async () => {
  const allowed = await Deno.makeTempDir();
  const named = (folder: string) => ({ name: "a", image: "tiny", share: [`${folder}:/mnt:ro`] });
  for (const tool of ["sandbox_create", "vm_create"]) {
    await using closed = await open("mcp");
    assert.equal((await closed.failure(tool, named(allowed))).code, "hv.policy_denied");
    await using lab = await open("mcp", { folders: [allowed] });
    for (const folder of [lab.root, `${allowed}/..`, `${allowed}x`]) {
      assert.equal((await lab.failure(tool, named(folder))).code, "hv.policy_denied", folder);
    }
    // The policy lets it through; this driver shares nothing.
    assert.equal((await lab.failure(tool, named(allowed))).code, "hv.unsupported");
    assert.equal((await lab.failure(tool, { ...named(allowed), share: ["x"] })).code, "hv.usage");
  }
  await Deno.remove(allowed, { recursive: true });
});

Deno.test("the same key gives the same operation, even with a spent token", async () => {
  await using lab = await open();
  const made = await lab.call("vm_create", { name: "web", image: "tiny" }, { key: "k1" });
  assert.deepEqual(await lab.call("vm_create", { name: "web", image: "tiny" }, { key: "k1" }), made);
  assert.equal(
    (await lab.failure("vm_create", { name: "db", image: "tiny" }, { key: "k1" })).code,
    "hv.conflict",
  );
  const { confirm } = await lab.plan("vm_delete", { vm: "web" });
  const removed = await lab.call("vm_delete", { vm: "web" }, { confirm, key: "k2" });
  assert.deepEqual(await lab.call("vm_delete", { vm: "web" }, { confirm, key: "k2" }), removed);
});

Deno.test("a long call answers with its operation, which can be waited for and cancelled", async () => {
  await using lab = await open();
  await lab.sandbox("a");
  const surroundings = { signal: AbortSignal.timeout(300_000), progress: () => {} };
  const request = { tool: "guest_exec", args: { vm: "a", argv: ["sleep", "300"] }, wait_s: 0.05 };
  const answer = await lab.pipeline.call(request, surroundings);
  assert.ok(answer.kind === "running");
  assert.partialDeepStrictEqual(await lab.call("op_wait", { op: answer.op }, { wait_s: 0.05 }), {
    state: "running",
  });
  await lab.call("op_cancel", { op: answer.op });
  assert.partialDeepStrictEqual(await lab.call("op_wait", { op: answer.op }), {
    state: "cancelled",
    error: { code: "hv.cancelled" },
  });
  assert.equal((await lab.failure("op_cancel", { op: answer.op })).code, "hv.conflict");
});

Deno.test("without a store a change is refused, except one that frees something", async () => {
  await using lab = await open();
  await lab.running("web");
  await Deno.writeTextFile(`${lab.root}/file`, "");
  const driver = await lab.session.driver();
  await using broken = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  await Deno.writeTextFile(`${broken.root}/state`, "in the way");
  assert.notEqual((await broken.failure("vm_create", { name: "db", image: "tiny" })).code, "hv.internal");
  assert.partialDeepStrictEqual(await broken.call("vm_stop", { vm: "web", mode: "off" }), {
    state: "off",
    recorded: false,
  });
});

Deno.test("what frees something can be planned and done while the store cannot be written", async () => {
  await using lab = await open();
  const driver = await lab.session.driver();
  await using elsewhere = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  const { confirm: foreign } = await elsewhere.plan("vm_cleanup", {});
  for (const _ of ["first", "second"]) {
    const error = await lab.failure("vm_cleanup", {}, { confirm: foreign });
    assert.equal(error.code, "hv.plan_invalid", "a store that can be written knows its tokens");
  }
  for (const step of ["open", "write"]) {
    await lab.vm("vm_create", { name: step, image: "tiny" });
    await using unwritable = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
    if (step === "open") await Deno.writeTextFile(`${unwritable.root}/state`, "in the way");
    else await refuseWrites(unwritable);
    const { confirm } = await unwritable.plan("vm_cleanup", {});
    const kept = await unwritable.failure("plan", { tool: "vm_delete", args: { vm: step } });
    assert.equal(kept.code, step === "open" ? "hv.conflict" : "hv.io", "what frees nothing needs the store");
    const other = confirm.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
    assert.equal((await unwritable.failure("vm_cleanup", {}, { confirm: other })).code, "hv.plan_invalid");
    const old = confirm.replace(/^plan-.{10}/, "plan-01ARZ3NDEK");
    assert.match((await unwritable.failure("vm_cleanup", {}, { confirm: old })).message, /has expired/);
    assert.equal((await unwritable.call("vm_cleanup", {}, { confirm, key: step })).recorded, false, step);
  }
});

/** Lets the store open and be read, and refuses every new row. */
async function refuseWrites(lab: Lab): Promise<void> {
  await lab.session.store();
  using database = new DatabaseSync(lab.session.state.database);
  for (const table of ["plans", "operations"]) {
    database.exec(
      `CREATE TRIGGER refuse_${table} BEFORE INSERT ON ${table} BEGIN SELECT raise(ABORT, 'refused'); END`,
    );
  }
}

Deno.test("a damaged database is told in one answer, whether the call succeeds or fails", async () => {
  for (const fails of [false, true]) {
    await using lab = await open();
    await Deno.mkdir(`${lab.root}/state`);
    await Deno.writeTextFile(`${lab.root}/state/hvlab.db`, "this is no database\n".repeat(500));
    const create = (name: string, image: string) =>
      lab.pipeline.call({ tool: "vm_create", args: { name, image } }, {
        signal: AbortSignal.timeout(300_000),
        progress: () => {},
      });
    if (fails) {
      const { context } = await lab.failure("vm_create", { name: "web", image: "nothing" });
      assert.ok(Array.isArray(context.warnings) && context.warnings.length === 1);
      assert.match(String(context.warnings[0]), /was damaged .* was moved to/);
    } else {
      const answer = await create("web", "tiny");
      assert.ok(answer.kind === "done" && answer.warnings.length === 1);
      assert.match(answer.warnings[0] ?? "", /was damaged .* was moved to/);
    }
    const next = await create("db", "tiny");
    assert.ok(next.kind === "done");
    assert.deepEqual(next.warnings, []);
  }
});

Deno.test("a driver without a feature is named together with what it has", async () => {
  const driver = new MemoryDriver({ features: ["vms"] });
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  const error = await lab.failure("sandbox_list");
  assert.equal(error.code, "hv.unsupported");
  assert.match(error.hint ?? "", /vms/);
});

Deno.test("sandboxes whose lease is over go with the next change", async () => {
  let now = Date.now();
  const driver = new MemoryDriver({ now: () => now });
  await using lab = await Lab.open({ openDriver: () => Promise.resolve(driver), image: "tiny" });
  await lab.sandbox("a");
  now += 3_601_000;
  assert.deepEqual(await lab.names(), ["a"]);
  await lab.call("vm_create", { name: "web", image: "tiny" });
  assert.deepEqual(await lab.names(), ["web"]);
});

Deno.test("unlisted tools are reached through read and call, with their own gates", async () => {
  await using lab = await open("mcp");
  await lab.call("vm_create", { name: "web", image: "tiny" });
  assert.partialDeepStrictEqual(await lab.call("read", { tool: "hv_vm_get", args: { vm: "web" } }), {
    name: "web",
  });
  assert.equal((await lab.failure("read", { tool: "vm_delete", args: { vm: "web" } })).code, "hv.usage");
  assert.equal(
    (await lab.failure("call", { tool: "vm_delete", args: { vm: "web" } })).code,
    "hv.plan_required",
  );
  const { confirm } = await lab.plan("vm_delete", { vm: "web" });
  await lab.call("call", { tool: "vm_delete", args: { vm: "web" } }, { confirm });
  assert.deepEqual(await lab.names(), []);
});
