/** What makes a template another one. */

import assert from "node:assert/strict";
import type { Image } from "../../../../../src/contract/image.ts";
import {
  differencesOf,
  fingerprintOf,
  readTemplateKey,
  type TemplateKey,
} from "../../../../../src/drivers/qemu/templates/fingerprint.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

const KEY: TemplateKey = {
  format: 1,
  qemu: { path: "/usr/bin/qemu-system-x86_64", version: "7.2.22", size_bytes: 10, modified: 20 },
  machine: "pc-q35-7.2",
  accelerator: "tcg",
  host_cpu: "",
  memory_mb: 256,
  cpus: 1,
  files: { kernel: "aa", initrd: "bb" },
  arguments: ["-m", "size=256M"],
};

Deno.test("every part of the key is part of the fingerprint", async () => {
  const others: Partial<TemplateKey>[] = [
    { format: 2 },
    { qemu: { ...KEY.qemu, path: "/opt/qemu" } },
    { qemu: { ...KEY.qemu, version: "7.2.23" } },
    { qemu: { ...KEY.qemu, size_bytes: 11 } },
    { qemu: { ...KEY.qemu, modified: 21 } },
    { machine: "pc-q35-8.0" },
    { accelerator: "kvm" },
    { host_cpu: "another" },
    { memory_mb: 512 },
    { cpus: 2 },
    { files: { kernel: "aa", initrd: "cc" } },
    { arguments: ["-m", "size=256M", "-device", "VGA"] },
  ];
  const fingerprints = await Promise.all(
    [{}, ...others].map((change) => fingerprintOf({ ...KEY, ...change })),
  );
  assert.equal(new Set(fingerprints).size, others.length + 1);
  assert.equal(await fingerprintOf({ ...KEY }), fingerprints[0]);
  assert.match(fingerprints[0] ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("differences are told in words, the size first", () => {
  assert.deepEqual(differencesOf(KEY, KEY), []);
  assert.deepEqual(differencesOf(KEY, { ...KEY, machine: "pc-q35-8.0", memory_mb: 512, arguments: ["x"] }), [
    "the memory in MiB is 512 and was 256",
    "the machine type is pc-q35-8.0 and was pc-q35-7.2",
  ]);
  assert.deepEqual(differencesOf(KEY, { ...KEY, qemu: { ...KEY.qemu, modified: 1 } }), [
    "the QEMU program differs",
  ]);
  assert.deepEqual(differencesOf(KEY, { ...KEY, arguments: ["x"] }), ["the machine's shape differs"]);
});

const IMAGE: Image = {
  name: "tiny",
  kind: "kernel",
  files: [{ role: "kernel", path: "/images/tiny/kernel", size_bytes: 1, sha256: "aa" }],
  append: "quiet",
  folder: "/images/tiny",
  size_bytes: 1,
  created_at: "2026-01-01T00:00:00.000Z",
};

Deno.test("where things lie is no part of the key, what the machine is made of is", async () => {
  await withQemu(async ({ context, host }) => {
    const path = `${host.root}/qemu`;
    await Deno.writeTextFile(path, "a program");
    host.processes.places.set("qemu-system-x86_64", path);
    const facts = await host.files.stat(path);
    const key = `qemu/program/${path}/${facts?.modified ?? 0}/${facts?.size_bytes ?? 0}`;
    await context.findings.put(key, { version: "7.2.22", machine: "pc-q35-7.2" });
    const read = (image: Image): Promise<TemplateKey> =>
      readTemplateKey(context, image, { memory_mb: 256, cpus: 2 }, {
        remember: false,
        signal: new AbortController().signal,
      });
    const here = await read(IMAGE);
    const [file] = IMAGE.files;
    assert.ok(file !== undefined);
    const moved = { ...IMAGE, folder: "/x", files: [{ ...file, path: "/x/kernel" }] };
    assert.deepEqual(await read(moved), here);
    const words = here.arguments.join(" ");
    assert.doesNotMatch(words, /images/);
    assert.match(words, /-machine pc-q35-7\.2,memory-backend=/);
    assert.match(words, /-smp 2/);
    assert.match(words, /-append quiet/);
    assert.notDeepEqual((await read({ ...IMAGE, append: "debug" })).arguments, here.arguments);
  });
});
