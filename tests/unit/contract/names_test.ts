import assert from "node:assert/strict";
import { VmName } from "../../../src/contract/names.ts";

const UUID = "0123abcd-4567-4890-abcd-ef0123456789";

Deno.test("a name never reads as an id, so that a reference means one VM", () => {
  for (const text of [UUID, UUID.toUpperCase(), `vm-${UUID}`, `ckpt-${UUID}`]) {
    const parsed = VmName.safeParse(text);
    assert.equal(parsed.success, false, text);
    assert.match(parsed.error?.issues[0]?.message ?? "", /no uuid and no id/);
  }
  for (const text of [`web-${UUID}`, `VM-${UUID}`, "vm-1", UUID.slice(1), "web"]) {
    assert.ok(VmName.safeParse(text).success, text);
  }
});
