import assert from "node:assert/strict";
import { behaviour } from "../behaviour.ts";

behaviour(
  "a program's streams stay apart and its exit code is real",
  { needs: ["sandboxes", "guest"] },
  async ({ lab }) => {
    await lab.sandbox("a");
    const result = await lab.exec("a", ["sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert.equal(result.exit_code, 7);
    assert.equal(result.stdout, "out\n");
    assert.equal(result.stderr, "err\n");
    assert.equal(result.truncated, undefined);
  },
);

behaviour("arguments arrive byte for byte", { needs: ["sandboxes", "guest"] }, async ({ lab }) => {
  await lab.sandbox("a");
  const words = [
    "",
    " ",
    "a b",
    "'",
    '"',
    "\\",
    '\\"',
    "a\\",
    "\n",
    "\t",
    "$HOME",
    "%PATH%",
    "&&",
    "--flag",
    "*",
    "é",
    "😀",
  ];
  const { stdout } = await lab.exec("a", ["printf", "[%s]", ...words]);
  assert.equal(stdout, words.map((word) => `[${word}]`).join(""));
});

behaviour("a program that is not there is not found", { needs: ["sandboxes", "guest"] }, async ({ lab }) => {
  await lab.sandbox("a");
  const error = await lab.failure("guest_exec", { vm: "a", argv: ["no-such-program"] });
  assert.equal(error.code, "hv.not_found");
  assert.match(error.message, /no-such-program/);
});

behaviour(
  "a program is ended at its limit and the guest goes on",
  { needs: ["sandboxes", "guest"] },
  async ({ lab }) => {
    await lab.sandbox("a");
    const error = await lab.failure("guest_exec", { vm: "a", argv: ["sleep", "300"] }, { timeout_s: 1 });
    assert.equal(error.code, "hv.timeout");
    assert.equal((await lab.exec("a", ["true"])).exit_code, 0);
  },
);

behaviour("a file goes in and comes back unchanged", { needs: ["sandboxes", "guest"] }, async ({ lab }) => {
  await lab.sandbox("a");
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  await Deno.writeFile(`${lab.root}/in`, bytes);
  const sent = await lab.call("guest_copy_to", {
    vm: "a",
    source: `${lab.root}/in`,
    destination: "/tmp/new/r",
  });
  const fetched = await lab.call("guest_copy_from", {
    vm: "a",
    source: "/tmp/new/r",
    destination: `${lab.root}/out`,
  });
  assert.equal(sent.size_bytes, bytes.length);
  assert.equal(sent.sha256, fetched.sha256);
  assert.deepEqual(await Deno.readFile(`${lab.root}/out`), bytes);
});

behaviour(
  "copies refuse to replace a file unless told to",
  { needs: ["sandboxes", "guest"] },
  async ({ lab }) => {
    await lab.sandbox("a");
    await Deno.writeTextFile(`${lab.root}/in`, "new");
    const to = { vm: "a", source: `${lab.root}/in`, destination: "/tmp/r" };
    await lab.call("guest_copy_to", to);
    assert.equal((await lab.failure("guest_copy_to", to)).code, "hv.conflict");
    await lab.call("guest_copy_to", { ...to, overwrite: true });
    const from = { vm: "a", source: "/tmp/r", destination: `${lab.root}/in` };
    assert.equal((await lab.failure("guest_copy_from", from)).code, "hv.conflict");
  },
);

behaviour(
  "a missing file is told before the guest is asked",
  { needs: ["sandboxes", "guest"] },
  async ({ lab }) => {
    await lab.sandbox("a");
    const error = await lab.failure("guest_copy_to", {
      vm: "a",
      source: `${lab.root}/none`,
      destination: "/tmp/r",
    });
    assert.equal(error.code, "hv.not_found");
    assert.match(error.message, /none/);
  },
);

behaviour("a guest cannot be used while its VM is off", { needs: ["vms", "guest"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source });
  const error = await lab.failure("guest_exec", { vm: "web", argv: ["true"] });
  assert.equal(error.code, "hv.conflict");
  assert.deepEqual(error.context.found, "off");
});
