import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { isPlainObject } from "../../../src/base/json.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { answerOf, failureOf } from "../../../src/mcp/answer.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { catalogue } from "../../../src/tools/table.ts";

const TOOLS = ["vm_list", "guest_copy_to", "doctor"];

/** The envelope inside a failed call's answer. */
function envelopeOf(error: HvError): Record<string, unknown> {
  const { structuredContent } = failureOf(error, TOOLS);
  assert.ok(isPlainObject(structuredContent));
  return structuredContent;
}

Deno.test("a picture is content of its own, and the rest is the result", async () => {
  const result = { vm: "vm-1", width: 2, png_base64: "iVBORw0KGgo=" };
  const tool = await catalogue.load("console_screenshot");
  const { content, structuredContent } = await answerOf(
    { kind: "done", tool, result, warnings: [] },
    openDenoHost(),
    new StateFolder("/nowhere"),
    TOOLS,
  );
  assert.deepEqual(structuredContent, { vm: "vm-1", width: 2 });
  assert.deepEqual(content, [
    { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    { type: "text", text: '{"vm":"vm-1","width":2}' },
  ]);
});

Deno.test("a failure is the envelope, as structure and as the same text", () => {
  const error = new HvError("hv.not_found", 'There is no VM "x"', { hint: "Look", context: { vm: "x" } });
  const answer = failureOf(error, TOOLS);
  assert.equal(answer.isError, true);
  assert.deepEqual(answer.structuredContent, { ...error.toEnvelope() });
  assert.deepEqual(answer.content, [{ type: "text", text: JSON.stringify(answer.structuredContent) }]);
});

Deno.test("a failure stays under 2 KB, whatever it quotes, and keeps the facts that fit", () => {
  const long = "é\u0001".repeat(50_000);
  const error = new HvError("hv.internal", long, {
    hint: long,
    context: { stack: long, op: "op-1", path: "/x" },
  });
  const envelope = envelopeOf(error);
  assert.ok(new TextEncoder().encode(JSON.stringify(envelope)).length <= 2_000);
  assert.deepEqual(envelope.context, { op: "op-1", path: "/x" });
  assert.equal(envelope.truncated, true);
  assert.equal(envelope.correlation_id, error.correlationId);
});

Deno.test("hints name tools, not commands", () => {
  const hintOf = (hint: string): unknown => envelopeOf(new HvError("hv.usage", "x", { hint })).hint;
  assert.equal(hintOf("List the VMs with `hvlab vm list`"), "List the VMs with `hv_vm_list`");
  assert.equal(hintOf("List them with: hvlab vm list"), "List them with: hv_vm_list");
  assert.equal(hintOf("Copy with `hvlab guest copy-to web`"), "Copy with `hv_guest_copy_to web`");
  assert.equal(hintOf("Ask hvlab doctor first"), "Ask hv_doctor first");
  assert.equal(hintOf("Run `hvlab nothing known`"), "Run `hvlab nothing known`");
  assert.equal(hintOf("hvlab mcp"), "hvlab mcp");
});

Deno.test("a failure inside a result names tools too, and nothing else is changed", async () => {
  const error = { code: "hv.not_found", message: "run `hvlab vm list`", hint: "See `hvlab vm list`" };
  const result = { results: [{ ok: false, error }], hint: "hvlab vm list", code: 7, lines: ["hvlab doctor"] };
  const tool = await catalogue.load("vm_start");
  const { structuredContent } = await answerOf(
    { kind: "done", tool, result, warnings: [] },
    openDenoHost(),
    new StateFolder("/nowhere"),
    TOOLS,
  );
  const named = { ...error, hint: "See `hv_vm_list`" };
  assert.deepEqual(structuredContent, { ...result, results: [{ ok: false, error: named }] });
});
