/** Texts that a user or an agent sees, kept beside the test and compared whole. */

import assert from "node:assert/strict";

/**
 * Compares a text with the file `__snapshots__/NAME` beside the test. `HVLAB_UPDATE_SNAPSHOTS=1` writes the file
 * anew; without it a missing file is a failure.
 */
export async function matchSnapshot(test: string, name: string, text: string): Promise<void> {
  const file = new URL(`./__snapshots__/${name}`, test);
  if (Deno.env.get("HVLAB_UPDATE_SNAPSHOTS") === "1") {
    await Deno.mkdir(new URL("./__snapshots__/", test), { recursive: true });
    return await Deno.writeTextFile(file, text);
  }
  let kept: string;
  try {
    kept = await Deno.readTextFile(file);
  } catch {
    assert.fail(`there is no snapshot ${name}: look at the output and run with HVLAB_UPDATE_SNAPSHOTS=1`);
  }
  assert.equal(text, kept, `${name} has changed: when that is meant, run with HVLAB_UPDATE_SNAPSHOTS=1`);
}
