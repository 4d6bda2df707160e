import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import type { VmEvent } from "../../../src/contract/vm.ts";
import type { Driver } from "../../../src/drivers/driver.ts";
import type { EventAbilities } from "../../../src/drivers/vm_extras.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { Pipeline } from "../../../src/tools/call.ts";
import type { CallAnswer, DoorName } from "../../../src/tools/tool.ts";
import { Session } from "../../../src/tools/session.ts";
import { catalogue } from "../../../src/tools/table.ts";
import { failureOf } from "../../support/failures.ts";
import { MemoryDriver } from "../../support/memory_driver.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const EVENTS: VmEvent[] = (["started", "crashed"] as const).map((event, index) => ({
  seq: index + 1,
  at: "2026-11-29T12:00:00.000Z",
  vm: "vm-x",
  event,
  details: event === "crashed" ? { info: { arg1: "0x1e" }, reason: "two words\u001b[31m" } : {},
}));

interface Bench {
  call: (args: object, sinks?: (text: string) => void, signal?: AbortSignal) => Promise<CallAnswer>;
  asked: unknown[];
}

async function withEvents(
  work: (bench: Bench) => Promise<void>,
  { door = "cli", gap }: { door?: DoorName; gap?: string } = {},
): Promise<void> {
  await using host = await ScriptedHost.open();
  const asked: unknown[] = [];
  const events: EventAbilities = {
    history(id, options) {
      asked.push([id, options]);
      const after = options.after ?? 0;
      return Promise.resolve(EVENTS.filter(({ seq }) => seq > after));
    },
    gap: () => Promise.resolve(gap),
  };
  const driver: Driver = Object.assign(new MemoryDriver({ features: ["vms", "images", "events"] }), {
    events,
  });
  const id = await driver.vms.create(
    { name: "web", image: "tiny", memory_mb: 64, cpus: 1 },
    { signal: AbortSignal.timeout(300_000), progress: () => {} },
  );
  EVENTS.forEach((event) => event.vm = id);
  await using session = new Session({
    host,
    config: DEFAULT_CONFIG,
    state: new StateFolder(`${host.root}/state`),
    door,
    catalogue,
    openDriver: () => Promise.resolve(driver),
  });
  const pipeline = new Pipeline(session);
  await work({
    asked,
    call(args, take, signal = new AbortController().signal) {
      const sink = (bytes: Uint8Array): Promise<void> =>
        Promise.resolve(take?.(new TextDecoder().decode(bytes)));
      const sinks = take === undefined ? {} : { sinks: { stdout: sink, stderr: sink } };
      return pipeline.call({ tool: "vm_events", args }, { signal, progress: () => {}, ...sinks });
    },
  });
}

Deno.test("the history of one VM or of all is asked for with its bounds, and a gap is a warning", () =>
  withEvents(async ({ call, asked }) => {
    const answer = await call({ vm: "web", after: 1, limit: 5 });
    assert.ok(answer.kind === "done");
    assert.deepEqual(answer.result, { events: [EVENTS[1]] });
    assert.deepEqual(answer.warnings, ["No keeper runs"]);
    await call({});
    assert.deepEqual(asked, [[EVENTS[0]?.vm, { after: 1, limit: 5 }], [undefined, { limit: 100 }]]);
  }, { gap: "No keeper runs" }));

Deno.test("an event is one line whatever its details hold", async () => {
  const tool = await catalogue.load("vm_events");
  const [line, more] = tool.render({ events: JSON.parse(JSON.stringify([EVENTS[1]])) })?.split("\n") ?? [];
  assert.equal(more, undefined);
  assert.match(line ?? "", /crashed {2}info=\{"arg1":"0x1e"\} {2}reason="two words\\u001b\[31m"$/);
  assert.equal(tool.render({ events: [] }), "No events");
});

Deno.test("following prints what is there, then what comes, and a gap once", () =>
  withEvents(async ({ call }) => {
    const ending = new AbortController();
    let text = "";
    const following = call({ follow: true }, (more) => {
      text += more;
      if (text.includes("warning") && text.includes("crashed")) ending.abort();
    }, ending.signal);
    await failureOf("hv.cancelled", () => following);
    assert.match(text, /^1 .*started\n2 .*crashed .*\nwarning: No keeper runs\n$/);
  }, { gap: "No keeper runs" }));

for (const door of ["cli", "mcp"] as const) {
  Deno.test(`following is refused where no lines can be shown: ${door}`, () =>
    withEvents(async ({ call }) => {
      const { hint } = await failureOf("hv.usage", () => call({ follow: true }));
      assert.match(hint ?? "", door === "cli" ? /--after/ : /after/);
    }, { door }));
}
