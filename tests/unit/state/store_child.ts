/** A process of its own that works on a store: `store_child.ts STATE_FOLDER ROUNDS NAME`. Endless with 0 rounds. */

import { openDenoHost } from "../../../src/host/deno_host.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { digestOfCall } from "../../../src/state/operations.ts";
import { openStore } from "../../../src/state/store.ts";

const [folder = "", roundsText = "0", name = ""] = Deno.args;
const rounds = Number(roundsText) || Infinity;
const at = new Date().toISOString();

using store = await openStore(openDenoHost(), new StateFolder(folder));
const won: string[] = [];
for (let round = 0; round < rounds; round++) {
  const op = `op-${name}-${round}`;
  await store.operations.begin({ op, tool: "vm_start", target: null, door: "cli", at });
  await store.operations.progress(op, { message: "half", fraction: 0.5 });
  await store.operations.finish(op, { state: "succeeded", result: { text: "x".repeat(20_000), round } }, at);
  const line = { at, op, tool: "vm_start", class: "M", door: "cli", target: null, outcome: "succeeded" };
  await store.audit.append(line);
  const idempotency = { key: `shared-${round}`, digest: await digestOfCall("vm_stop", { round }) };
  const shared = { op: `op-shared-${name}-${round}`, tool: "vm_stop", target: null, door: "mcp", at };
  if ((await store.operations.begin({ ...shared, idempotency })).created) won.push(`key ${round}`);
  if ((await store.plans.consume(`plan-${round}`)).status === "valid") won.push(`plan ${round}`);
  if (round === 0) console.error("working");
}
console.log(JSON.stringify(won));
