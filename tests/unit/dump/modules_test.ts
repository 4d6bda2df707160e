import assert from "node:assert/strict";
import { safeFileName } from "../../../src/dump/modules.ts";

Deno.test("a symbol file has only a name that every system can have", () => {
  const cases: [string, string | null][] = [
    ["C:\\build\\evil.pdb", "evil.pdb"],
    ["/build/evil.ko", "evil.ko"],
    ["config.pdb", "config.pdb"],
    ["C:\\build\\CON.pdb", null],
    ["nul.sys", null],
    ["evil.pdb.", null],
    ["evil\x7F.pdb", null],
    ["a:b.pdb", null],
    ["C:\\build\\..", null],
    ["C:\\build\\", null],
  ];
  for (const [path, name] of cases) assert.equal(safeFileName(path), name, path);
});
