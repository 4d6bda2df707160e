import assert from "node:assert/strict";
import { isPassing, passingName } from "../../../src/guest/passing.ts";

Deno.test("a passing name stands beside the path, whatever that ends with", () => {
  for (
    const [path, name] of [
      ["/srv/a", "/srv/a.hvlab-0a1b2c3d"],
      ["/srv/a//", "/srv/a.hvlab-0a1b2c3d"],
      ["C:\\lab\\", "C:\\lab.hvlab-0a1b2c3d"],
      ["a", "a.hvlab-0a1b2c3d"],
    ] as const
  ) {
    assert.equal(passingName(path, "0a1b2c3d"), name);
    assert.ok(isPassing(name));
  }
  assert.ok(isPassing(passingName("/x")));
});

Deno.test("the passing names of the longest names are no longer, and differ where these do", () => {
  for (const name of ["a".repeat(255), "é".repeat(127), "日".repeat(85)]) {
    const passing = passingName(`/srv/${name}`, "0a1b2c3d");
    const archive = `${passing}.tar`;
    const names = [passing, archive, passingName(archive, "0a1b2c3d")];
    assert.equal(new Set(names).size, 3);
    for (const path of names) {
      assert.match(path, /^\/srv\/(a+|é+|日+)\.hvlab-/);
      assert.ok(isPassing(path) && new TextEncoder().encode(path).length <= "/srv/".length + 255, path);
    }
  }
});

Deno.test("nothing else is taken for one", () => {
  for (
    const path of [
      ...["/srv/a", "/srv/a.hvlab-", "/srv/a.hvlab-0a1b2c3", "/a.hvlab-0a1b2c3d/b", "/a.hvlab-0a1b2c3d/"],
      ...["/.hvlab-0a1b2c3d", "/a.hvlab-0a1b2c3d.tar/..", "/a.hvlab-0A1B2C3D", "/a.hvlab-0a1b2c3d\n"],
    ]
  ) assert.ok(!isPassing(path), path);
});
