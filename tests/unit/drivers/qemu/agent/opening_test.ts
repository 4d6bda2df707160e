/** Opening the streams of a program that takes its time to make them. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { joinPath } from "../../../../../src/base/paths.ts";
import { AgentLink } from "../../../../../src/drivers/qemu/agent/link.ts";
import { openStreams } from "../../../../../src/drivers/qemu/agent/opening.ts";
import { PIPES } from "../../../../../src/drivers/qemu/agent/streams.ts";
import { FakeAgent, type FakeAnswer } from "../../../../support/fake_agent.ts";
import { openHurriedHost } from "../../../../support/hurried_host.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

Deno.test("what is open is told when some of it is, and not for looks that find nothing", async () => {
  await withTemporaryFolder(async (folder) => {
    const [socket, lock] = [joinPath(folder, "agent"), joinPath(folder, "lock")];
    let [looks, handle] = [0, 0];
    const answer = (name: string, values: JsonObject): FakeAnswer => {
      if (name === "guest-exec-status") {
        looks++;
        return { return: { exited: false } };
      }
      const isErrors = String(values.path).endsWith("/8");
      return looks >= (isErrors ? 4 : 2)
        ? { return: ++handle }
        : { error: { class: "GenericError", desc: "No such file or directory" } };
    };
    const agent = new FakeAgent(socket, { answer });
    const host = openHurriedHost();
    const link = new AgentLink({ host, socket, lock, isCrashed: () => Promise.resolve(undefined) });
    const handles: number[] = [];
    const told: number[][] = [];
    const started = { pid: 42, place: PIPES, startTookMs: 0 };
    const onOpened = (): void => void told.push([...handles]);
    const { signal } = new AbortController();
    const opened = await openStreams(link, host.clock, started, handles, onOpened, signal);
    assert.ok("gate" in opened);
    assert.deepEqual(told, [[1, 2, 3], [1, 2, 3, 4, 5]]);
    link.close();
    await agent.close();
  });
});
