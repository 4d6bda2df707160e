import assert from "node:assert/strict";
import { launchFailure, readLogTail } from "../../../../../src/drivers/qemu/launch/errors.ts";
import { denoFiles } from "../../../../../src/host/files.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

/** Last words of QEMU 7.2, as it printed them here. */
const WORDS: [string, string][] = [
  [
    "qemu-system-x86_64: -netdev user,id=n,hostfwd=tcp::22-:22: Could not set up host forwarding rule 'tcp::22-:22'",
    "hv.conflict",
  ],
  [
    'qemu-system-x86_64: -blockdev ...: Failed to get "write" lock\nIs another process using the image [x]?',
    "hv.conflict",
  ],
  [
    "qemu-system-x86_64: cannot create PID file: Cannot lock pid file: Resource temporarily unavailable",
    "hv.conflict",
  ],
  ["qemu: invalid kernel header", "hv.bad_image"],
  ["qemu-system-x86_64: -blockdev x: Image is not in qcow2 format", "hv.bad_image"],
  ["qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory", "hv.unavailable"],
  ["qemu-system-x86_64: -machine pc-q35-99.0: unsupported machine type", "hv.unsupported"],
  ["qemu-system-x86_64: -chardev file,id=s,path=/x: Unable to open: No space left on device", "hv.io"],
  ["qemu-system-x86_64: -device nonsense: something new", "hv.job_failed"],
  ["", "hv.job_failed"],
];

Deno.test("QEMU's last words are sorted into our codes and stand in the error", () => {
  for (const [words, code] of WORDS) {
    const failure = launchFailure(words, { code: 1, signal: null }, { vm: "vm-x" });
    assert.equal(failure.code, code, words);
    assert.equal(failure.context.vm, "vm-x");
    assert.equal(failure.context.exit_code, 1);
    const last = words.split("\n").at(-1) ?? "";
    assert.ok(failure.message.includes(last), words);
    assert.ok(!failure.message.endsWith("."));
  }
});

Deno.test("warnings are not taken for the reason", () => {
  const words = "qemu-system-x86_64: the reason\nqemu-system-x86_64: warning: host doesn't support pni\n";
  const { message, context } = launchFailure(words, { code: 1, signal: null }, {});
  assert.match(message, /QEMU says: qemu-system-x86_64: the reason$/);
  assert.equal(context.qemu, "qemu-system-x86_64: the reason");
});

Deno.test("a signal is named", () => {
  assert.match(launchFailure("", { code: null, signal: "SIGKILL" }, {}).message, /signal SIGKILL ended it/);
});

Deno.test("only what a log got since the start is read, and never more than its tail", () =>
  withQemu(async ({ host }) => {
    const path = `${host.root}/log`;
    assert.equal(await readLogTail({ ...host, files: denoFiles }, path), "");
    await Deno.writeTextFile(path, "old\nnew\n");
    assert.equal(await readLogTail(host, path, 4), "new\n");
    await Deno.writeTextFile(path, "x".repeat(100_000) + "end");
    const tail = await readLogTail(host, path);
    assert.equal(tail.length, 16 * 1024);
    assert.ok(tail.endsWith("end"));
  }));

Deno.test("a QEMU that ends without a word is not quoted; SIGBUS means a full disk", () => {
  const silent = launchFailure("", { code: 1, signal: null }, {});
  assert.equal("qemu" in silent.context, false);
  assert.doesNotMatch(silent.hint ?? "", /words in the context/);
  const full = launchFailure("", { code: null, signal: "SIGBUS" }, {});
  assert.equal(full.code, "hv.io");
  assert.match(full.message, /SIGBUS.*full/);
});
