import assert from "node:assert/strict";
import { endedTooEarly } from "../../../../../src/drivers/qemu/templates/make.ts";
import { requireSpace } from "../../../../../src/drivers/qemu/templates/space.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

const DF = (free: number) =>
  `Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 900000 1000 ${free} 1% /\n`;

Deno.test("a template that has no room is refused with the path, what is wanted and what is free", async () => {
  await withQemu(async ({ host, scope }) => {
    host.processes.expect("df", ["-Pk", "--", "/state"], { stdout: DF(100 * 1024) });
    const failure = await failureOf("hv.io", () => requireSpace(host, "/state", 256, scope.signal));
    assert.match(failure.message, /"\/state": wanted 256 MiB, found 100 MiB free/);
    assert.deepEqual(failure.context, { path: "/state", wanted_bytes: 2 ** 28, free_bytes: 100 * 2 ** 20 });
  });
});

Deno.test("room enough, and a df without an answer, let the template be made", async () => {
  await withQemu(async ({ host, scope }) => {
    host.processes.expect("df", ["-Pk", "--", "/state"], { stdout: DF(256 * 1024) });
    await requireSpace(host, "/state", 256, scope.signal);
    host.processes.expect("df", ["-Pk", "--", "/state"], { code: 1 });
    await requireSpace(host, "/state", 256, scope.signal);
  });
});

Deno.test("a QEMU that SIGBUS ended names the full disk, any other end does not", () => {
  const full = endedTooEarly("", "SIGBUS");
  assert.equal(full.code, "hv.io");
  assert.match(full.message, /SIGBUS.*disk is full/);
  assert.deepEqual(full.context, { signal: "SIGBUS" });
  assert.equal(endedTooEarly("qemu: bad\n", null).code, "hv.job_failed");
  assert.equal(endedTooEarly("qemu: bad\n", null).context.qemu, "qemu: bad");
});
