import assert from "node:assert/strict";
import { refuseWindowsName } from "../../../src/base/windows_names.ts";

Deno.test("names that Windows gives to devices, cuts or forbids are refused, whatever their case and ending", () => {
  const refused = ["con", "Aux.txt", "NUL", "com1", "LPT9.tar.gz", "conin$", "COM¹", "nul .x", "a:b", "a/b"];
  for (const name of [...refused, "a\\b", "what?", "a*", "<", "x|y", '"', "a\u0001", "dot.", "space "]) {
    assert.ok(refuseWindowsName(name), name);
  }
});

Deno.test("names that only look like that are taken", () => {
  for (
    const name of [
      "console",
      "com",
      "com10",
      "lpt",
      "nul_",
      "a.con",
      ".hidden",
      "é 😀",
      " a",
      "x.y.z",
      "aux2",
    ]
  ) {
    assert.equal(refuseWindowsName(name), undefined, name);
  }
});
