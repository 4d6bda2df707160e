import assert from "node:assert/strict";
import { readPng } from "../../support/read_png.ts";
import { behaviour } from "../behaviour.ts";

behaviour(
  "a screen is a picture in the answer or in a new file, while its VM is on",
  { needs: ["console"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    const off = await lab.failure("console_screenshot", { vm: "web" });
    assert.deepEqual([off.code, off.context.found], ["hv.conflict", "off"]);
    await lab.call("vm_start", { vm: "web" });
    const { png_base64: picture, width, height } = await lab.call("console_screenshot", { vm: "web" });
    assert.ok(typeof picture === "string");
    const shown = readPng(Uint8Array.fromBase64(picture));
    assert.deepEqual([shown.width, shown.height], [width, height]);
    const output = `${lab.root}/it's a screen.png`;
    const written = await lab.call("console_screenshot", { vm: "web", output });
    assert.deepEqual([written.output, written.png_base64], [output, undefined]);
    const file = Deno.readFileSync(output);
    assert.equal(file.length, written.size_bytes);
    assert.equal(readPng(file).width, written.width);
    assert.equal((await lab.failure("console_screenshot", { vm: "web", output })).code, "hv.conflict");
    await lab.call("console_screenshot", { vm: "web", output, overwrite: true });
    const { operations } = await lab.call("op_list");
    assert.ok(Array.isArray(operations));
    const pictures = operations.filter((each) => JSON.stringify(each).includes("console_screenshot"));
    assert.equal(pictures.length, 3, "only those that wrote, or would have, are changes");
  },
);

behaviour(
  "what cannot be pressed is refused before anything is",
  { needs: ["console"] },
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    assert.equal((await lab.failure("console_keys", { vm: "web", key: ["enter"] })).context.found, "off");
    await lab.call("vm_start", { vm: "web" });
    const text = await lab.failure("console_type", { vm: "web", text: "aß" });
    assert.deepEqual([text.code, text.context.character], ["hv.usage", "ß"]);
    assert.match(
      (await lab.failure("console_keys", { vm: "web", key: ["a", "ctrl-entr"] })).hint ?? "",
      /"enter"/,
    );
    // No screen is as wide, whatever size a guest that boots gives to it meanwhile.
    assert.equal((await lab.failure("console_mouse", { vm: "web", x: 16_384, y: 0 })).code, "hv.usage");
    assert.equal((await lab.failure("console_mouse", { vm: "web", x: 1 })).code, "hv.usage");
    assert.equal((await lab.failure("console_mouse", { vm: "web" })).code, "hv.usage");
    assert.equal((await lab.vm("console_keys", { vm: "web", key: ["ctrl-c"] })).state, "running");
    const wait = await lab.failure("console_wait", { vm: "web" });
    assert.equal(wait.code, "hv.usage");
    const early = await lab.call("console_wait", { vm: "web", settled_s: 600 }, { wait_s: 0.2 });
    assert.equal(early.reached, false);
    const late = await lab.failure("console_wait", { vm: "web", settled_s: 600 }, { timeout_s: 0.3 });
    assert.deepEqual([late.code, late.context.wanted_s], ["hv.timeout", 600]);
  },
);

behaviour("an interrupt is refused where nothing runs", { needs: ["nmi"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  assert.equal((await lab.failure("vm_nmi", { vm: "web" })).code, "hv.plan_required");
  const off = await lab.failure("vm_nmi", { vm: "web" }, { confirm: "web" });
  assert.deepEqual([off.code, off.context.found], ["hv.conflict", "off"]);
});
