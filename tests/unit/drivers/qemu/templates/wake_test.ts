import { AgentLink } from "../../../../../src/drivers/qemu/agent/link.ts";
import type { Waker } from "../../../../../src/drivers/qemu/templates/record.ts";
import { sleeperOf } from "../../../../../src/drivers/qemu/templates/wake.ts";
import { failureOf } from "../../../../support/failures.ts";
import { openHurriedHost } from "../../../../support/hurried_host.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

const WAKER: Waker = {
  kind: "waker",
  pid: 9,
  search: "/bin",
  input: 1,
  reply: 2,
  stdout: { writer: 3, reader: 4 },
  stderr: { writer: 5, reader: 6 },
};

Deno.test("a guest that fell asleep and whose machine has ended since is not waited for without a limit", async () => {
  await withTemporaryFolder(async (folder) => {
    const host = openHurriedHost();
    const isCrashed = (): Promise<undefined> => Promise.resolve(undefined);
    const link = new AgentLink({ host, socket: `${folder}/agent`, lock: `${folder}/agent.lock`, isCrashed });
    const sleeper = sleeperOf(link, host.clock, WAKER);
    const { signal } = new AbortController();
    await failureOf("hv.guest_not_ready", () => sleeper.wake(signal));
    const command = { argv: ["true"], env: { a: "b" } };
    await failureOf("hv.guest_not_ready", () => sleeper.wakeWith(command, signal));
  });
});
