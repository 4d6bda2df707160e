import assert from "node:assert/strict";
import type { Picture } from "../../../../src/base/png.ts";
import { showsTheSame } from "../../../../src/flows/console/settled_screen.ts";

const SIZE = { width: 320, height: 200 };

/** A black screen with white cells of 9 by 16 pixels. */
function screen(...cells: readonly [number, number][]): Picture {
  const rgb = new Uint8Array(SIZE.width * SIZE.height * 3);
  for (const [column, row] of cells) {
    for (let y = row * 16; y < row * 16 + 16; y++) {
      rgb.fill(255, (y * SIZE.width + column * 9) * 3, (y * SIZE.width + column * 9 + 9) * 3);
    }
  }
  return { ...SIZE, rgb };
}

Deno.test("a cursor that blinks changes nothing, wherever it is", () => {
  assert.ok(showsTheSame(screen(), screen()));
  for (const cell of [[0, 0], [34, 11], [10, 5]] as const) {
    assert.ok(showsTheSame(screen(), screen([...cell])));
    assert.ok(showsTheSame(screen([...cell]), screen()));
  }
});

Deno.test("text that comes, goes or moves is a change", () => {
  assert.ok(!showsTheSame(screen(), screen([0, 0], [1, 0], [2, 0])));
  assert.ok(!showsTheSame(screen([0, 0]), screen([0, 3])), "the cursor went to another line");
  assert.ok(!showsTheSame(screen(), { width: 200, height: 320, rgb: screen().rgb }), "another mode");
});
