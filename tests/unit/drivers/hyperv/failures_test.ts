import assert from "node:assert/strict";
import * as z from "zod/mini";
import { failureOf } from "../../../../src/drivers/hyperv/failures.ts";
import { hasSample, readSample } from "../../../support/shared_samples.ts";

const error = (id: string, category: string, message: string): object => ({
  id: `${id},Microsoft.HyperV.PowerShell.Commands.StartVM`,
  category,
  message,
  types: ["Microsoft.HyperV.PowerShell.VirtualizationException"],
});

Deno.test("errors are told apart by id, HRESULT and category, in whatever language", () => {
  const text = "Не удалось запустить.";
  const cases: [object, string, string | undefined][] = [
    [error("OutOfMemory", "FromStdErr", text), "hv.unavailable", "no_memory"],
    [error("ObjectNotFound", "ObjectNotFound", text), "hv.not_found", undefined],
    [error("InvalidState", "InvalidOperation", text), "hv.conflict", undefined],
    [error("AccessDenied", "PermissionDenied", text), "hv.permission", undefined],
    [error("InvalidParameter", "InvalidArgument", text), "hv.usage", undefined],
    [error("ObjectInUse", "ResourceBusy", text), "hv.conflict", "in_use"],
    [error("Unspecified", "NotSpecified", `${text} (0x80070020). `), "hv.io", "file_in_use"],
    [error("OperationFailed", "NotSpecified", `${text} (0xc03a000d)`), "hv.bad_image", "parent_missing"],
    [error("OperationFailed", "NotSpecified", `${text} (0x80070070)`), "hv.io", "disk_full"],
    [error("OperationFailed", "NotSpecified", text), "hv.job_failed", undefined],
    [error("Other", "PermissionDenied", text), "hv.permission", undefined],
    [error("NamedParameterNotFound", "InvalidArgument", text), "hv.unsupported", undefined],
  ];
  for (const [facts, code, reason] of cases) {
    const failure = failureOf("start_machine", "run", facts);
    assert.deepEqual([failure.code, failure.context.reason], [code, reason], JSON.stringify(facts));
    assert.match(failure.message, /^Hyper-V refused "start machine": Не удалось запустить/);
    assert.doesNotMatch(failure.message, /\.$/);
  }
});

Deno.test("only the first line is the message, and the whole text is in the context", () => {
  const failure = failureOf(
    "start_machine",
    "run",
    error("OperationFailed", "NotSpecified", "First.\nSecond."),
  );
  assert.equal(failure.message, 'Hyper-V refused "start machine": First');
  assert.equal(failure.context.provider_message, "First.\nSecond.");
});

Deno.test("what an operation says itself is handed on", () => {
  const ours = { code: "hv.conflict", hint: "Do this", facts: { wanted: "off" } };
  const failure = failureOf("set_machine", "run", { ...error("x", "y", "The VM is running"), ours });
  assert.deepEqual([failure.code, failure.message, failure.hint], [
    "hv.conflict",
    "The VM is running",
    "Do this",
  ]);
  assert.equal(failure.context.wanted, "off");
  const unknown = failureOf("set_machine", "run", { ...error("x", "y", "z"), ours: { code: "hv.odd" } });
  assert.equal(unknown.code, "hv.internal");
});

Deno.test("a module that does not load is unavailable; an answer without form is a bug of ours", () => {
  assert.equal(failureOf("probe", "load", { message: "x", id: "y" }).code, "hv.unavailable");
  assert.equal(failureOf("probe", "run", 7).code, "hv.internal");
});

const OBSERVED = "hyperv/errors/observed-errors.json";
const Observed = z.object({
  errors: z.array(
    z.object({
      fqid: z.optional(z.string()),
      category: z.optional(z.string()),
      message: z.optional(z.string()),
    }),
  ),
});

Deno.test({
  name: "every error that was seen on a real host gets a code that is not our own bug",
  ignore: !hasSample(OBSERVED),
  fn() {
    const { errors } = Observed.parse(JSON.parse(new TextDecoder().decode(readSample(OBSERVED))));
    assert.ok(errors.length > 40);
    for (const { fqid = "", category = "", message = "" } of errors) {
      const failure = failureOf("start_machine", "run", { id: fqid, category, message });
      assert.notEqual(failure.code, "hv.internal", fqid);
      if (fqid.startsWith("OutOfMemory")) assert.equal(failure.context.reason, "no_memory");
      if (fqid.startsWith("AccessDenied")) assert.equal(failure.code, "hv.permission");
    }
  },
});
