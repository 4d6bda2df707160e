/** The keeper's own log. */

import assert from "node:assert/strict";
import { joinPath } from "../../../src/base/paths.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { KeeperLog } from "../../../src/keeper/log.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test("lines that nobody waits for are there in order when the log has settled", () =>
  withTemporaryFolder(async (folder) => {
    const path = joinPath(folder, "keeper.log");
    const log = new KeeperLog(systemClock, path);
    for (const text of ["one", "two", "two", "three"]) void log.write(text);
    await log.settled;
    const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
    assert.deepEqual(lines.map((line) => line.split(" ").at(-1)), ["one", "two", "three"]);
  }));
