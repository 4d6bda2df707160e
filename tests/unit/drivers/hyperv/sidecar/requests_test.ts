import assert from "node:assert/strict";
import { HvError } from "../../../../../src/base/errors.ts";
import { OpenRequests } from "../../../../../src/drivers/hyperv/sidecar/requests.ts";

Deno.test("a reply reaches its own request, once", async () => {
  const requests = new OpenRequests();
  const seen: string[] = [];
  const first = requests.open((activity, percent) => seen.push(`${activity} ${percent}`));
  const second = requests.open(() => seen.push("never"));
  assert.notEqual(first.id, second.id);
  requests.take({ id: first.id, kind: "progress", activity: "merging", percent: 40 });
  requests.take({ id: first.id, kind: "begin" });
  await first.begun;
  requests.take({ id: first.id, kind: "result", value: 1 });
  requests.take({ id: first.id, kind: "result", value: 2 });
  assert.deepEqual(await first.outcome, { kind: "result", value: 1 });
  assert.deepEqual(seen, ["merging 40"]);
  assert.equal(requests.size, 1);
  requests.take({ id: second.id, kind: "stopped", reason: "x" });
  assert.deepEqual(await second.outcome, { kind: "stopped", reason: "x" });
});

Deno.test("a frame of a stranger or of a closed request changes nothing", () => {
  const requests = new OpenRequests();
  requests.take({ id: crypto.randomUUID(), kind: "result", value: 1 });
  assert.equal(requests.size, 0);
});

Deno.test("when nobody answers any more, each request says whether it had begun", async () => {
  const requests = new OpenRequests();
  const [waiting, begun] = [requests.open(() => {}), requests.open(() => {})];
  requests.take({ id: begun.id, kind: "begin" });
  const cause = new HvError("hv.unavailable", "gone");
  requests.lose(cause);
  assert.deepEqual(await waiting.outcome, { kind: "lost", began: false, cause });
  assert.deepEqual(await begun.outcome, { kind: "lost", began: true, cause });
  assert.deepEqual(await requests.open(() => {}).outcome, { kind: "lost", began: false, cause });
});

Deno.test("an answer that cannot be read leaves the outcome open", async () => {
  const requests = new OpenRequests();
  const request = requests.open(() => {});
  requests.take({ id: request.id, kind: "begin" });
  requests.take({ id: request.id, kind: "broken" });
  const outcome = await request.outcome;
  assert.deepEqual([outcome.kind, outcome.kind === "lost" && outcome.began], ["lost", true]);
});
