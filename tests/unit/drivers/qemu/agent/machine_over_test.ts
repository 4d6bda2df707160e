/** A machine that ends while a program runs in its guest. */

import assert from "node:assert/strict";
import { joinPath } from "../../../../../src/base/paths.ts";
import { openAgentChannel } from "../../../../../src/drivers/qemu/agent/channel.ts";
import { openDenoHost } from "../../../../../src/host/deno_host.ts";
import { failureOf } from "../../../../support/failures.ts";
import { FakeAgent } from "../../../../support/fake_agent.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

const nowhere = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };

Deno.test({
  name: "who follows a program learns at once that its machine has ended",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withTemporaryFolder(async (folder) => {
      const real = openDenoHost();
      // No time passes, so that no patience ends: only what is seen of the machine can.
      const host = { ...real, clock: { ...real.clock, monotonic: () => 0 } };
      const socket = joinPath(folder, "agent");
      let isOver = false;
      let ended: Promise<void> | undefined;
      const agent = new FakeAgent(socket, {
        answer(name, _, fake) {
          if (name === "guest-exec") return { return: { pid: 42 } };
          if (!isOver) ended = fake.close();
          isOver = true;
          return undefined;
        },
      });
      const channel = openAgentChannel({
        host,
        socket,
        lock: `${socket}.lock`,
        isCrashed: () => Promise.resolve(undefined),
        isOver: () => Promise.resolve(isOver),
      });
      try {
        await failureOf(
          "hv.outcome_unknown",
          () => channel.exec({ argv: ["true"] }, nowhere, new AbortController().signal),
        );
        assert.ok(isOver);
      } finally {
        channel.close();
        await (ended ?? agent.close());
      }
    }),
});
