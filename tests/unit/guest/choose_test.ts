import assert from "node:assert/strict";
import type { ChannelName, GuestChannel } from "../../../src/guest/channel.ts";
import { chooseChannel, type Evidence, passOthers } from "../../../src/guest/choose.ts";
import { failureOf } from "../../support/failures.ts";
import { MemoryGuest } from "../../support/memory_guest.ts";

function way(name: ChannelName): GuestChannel {
  return Object.defineProperty(new MemoryGuest(), "name", { value: name });
}

const NOTHING: Evidence = { hasLogin: false, wantsLogin: false };

function order(names: readonly ChannelName[], evidence: Partial<Evidence>): string[] {
  return chooseChannel(names.map(way), { ...NOTHING, ...evidence }).order.map(({ name }) => name);
}

Deno.test("the agent comes first, and SSH only with somebody to log in as", () => {
  assert.deepEqual(order(["ssh", "agent"], {}), ["agent"]);
  assert.deepEqual(order(["ssh", "agent"], { hasLogin: true }), ["agent", "ssh"]);
  assert.deepEqual(order(["ssh"], {}), ["ssh"]);
});

Deno.test("what answered before for this image comes first", () => {
  assert.deepEqual(order(["agent", "ssh"], { hasLogin: true, answered: "ssh" }), ["ssh", "agent"]);
});

Deno.test("a call that names an account gets a way that logs in", async () => {
  assert.deepEqual(order(["agent", "ssh"], { hasLogin: true, wantsLogin: true }), ["ssh"]);
  const choose = (): Promise<unknown> =>
    Promise.resolve().then(() => order(["agent"], { hasLogin: true, wantsLogin: true }));
  await failureOf("hv.unsupported", choose);
});

Deno.test("the way that is asked for is the only one, or there is none", async () => {
  assert.deepEqual(order(["agent", "ssh"], { wanted: "ssh" }), ["ssh"]);
  const failure = await failureOf(
    "hv.unsupported",
    () => Promise.resolve().then(() => order(["agent", "ssh"], { wanted: "psdirect" })),
  );
  assert.deepEqual([failure.context.found, failure.hint], [["agent", "ssh"], "It has agent, ssh"]);
  await failureOf("hv.unsupported", () => Promise.resolve().then(() => order([], {})));
});

Deno.test("an answer says of each other way why it was not used", () => {
  const ways = [way("agent"), way("ssh")];
  const plain = chooseChannel(ways, { ...NOTHING, hasLogin: true });
  assert.match(passOthers(plain, 0, [])[0]?.reason ?? "", /agent comes first/);
  assert.deepEqual(passOthers(plain, 1, ["nobody answered"]), [{
    channel: "agent",
    reason: "nobody answered",
  }]);
  const asked = chooseChannel(ways, { ...NOTHING, wanted: "ssh" });
  assert.deepEqual(passOthers(asked, 0, []), [{ channel: "agent", reason: '"ssh" was asked for' }]);
  const learnt = chooseChannel(ways, { ...NOTHING, hasLogin: true, answered: "ssh" });
  assert.match(passOthers(learnt, 0, [], "ssh")[0]?.reason ?? "", /answered before for this image/);
});

Deno.test("the policy says which ways may be taken, and which comes first", async () => {
  assert.deepEqual(order(["agent", "ssh"], { allowed: ["ssh", "agent"] }), ["ssh", "agent"]);
  assert.deepEqual(order(["agent", "ssh"], { hasLogin: true, allowed: ["agent"] }), ["agent"]);
  assert.deepEqual(order(["agent", "ssh"], { allowed: ["psdirect", "ssh"] }), ["ssh"]);
  const allowed = ["ssh", "agent"];
  assert.deepEqual(order(["agent", "ssh"], { allowed, answered: "agent" }), ["agent", "ssh"]);
  const ways = [way("agent"), way("ssh")];
  const choice = chooseChannel(ways, { ...NOTHING, allowed: ["ssh"] });
  assert.deepEqual(passOthers(choice, 0, []), [{ channel: "agent", reason: "the policy does not allow it" }]);
  for (
    const evidence of [
      { wanted: "agent", allowed: ["ssh"] },
      { wantsLogin: true, allowed: ["agent"] },
      { allowed: [] },
    ] as const
  ) {
    const failure = await failureOf(
      "hv.policy_denied",
      () => Promise.resolve().then(() => order(["agent", "ssh"], evidence)),
    );
    assert.deepEqual(failure.context.allowed, evidence.allowed);
  }
});
