import assert from "node:assert/strict";
import type { Progress } from "../../../src/contract/operation.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import {
  detachedFiles,
  DetachedOutput,
  handOver,
  readHandover,
  takeHandover,
} from "../../../src/tools/detached.ts";
import { failureOf } from "../../support/failures.ts";
import { ScriptedHost } from "../../support/scripted_host.ts";

const OP = "op-01M8MVGAFDWBS2YWQQ8C93KGMX";
const HANDOVER = { tool: "guest_exec", args: { vm: "web", env: ["TOKEN=secret"] }, timeout_s: 5 };

async function inside(work: (host: ScriptedHost, state: StateFolder) => Promise<void>): Promise<void> {
  await using host = await ScriptedHost.open();
  await work(host, new StateFolder(`${host.root}/state`));
}

Deno.test("a call is handed over in a file of this user alone, which is gone once it is taken", async () => {
  await inside(async (host, state) => {
    const target = { host, state, config: null, driverName: undefined };
    await handOver(
      target,
      async (_, op) => {
        const [name = ""] = Array.from(Deno.readDirSync(state.detached), (entry) => entry.name);
        const { mode } = await Deno.stat(`${state.detached}/${name}`);
        if (Deno.build.os !== "windows") assert.equal((mode ?? 0) & 0o777, 0o600);
        assert.deepEqual(await readHandover(host, state, op), HANDOVER);
        await takeHandover(host, state, op);
        return { ended: new Promise(() => {}) };
      },
      OP,
      HANDOVER,
    );
    assert.deepEqual([...Deno.readDirSync(state.detached)], []);
    await failureOf("hv.not_found", () => readHandover(host, state, OP));
  });
});

Deno.test("a process that ends without taking the call leaves nothing behind", async () => {
  await inside(async (host, state) => {
    const target = { host, state, config: null, driverName: undefined };
    const start = (): Promise<{ ended: Promise<void> }> => Promise.resolve({ ended: Promise.resolve() });
    await failureOf("hv.unavailable", () => handOver(target, start, OP, HANDOVER));
    const broken = (): Promise<never> => Promise.reject(new Error("no such program"));
    await assert.rejects(handOver(target, broken, OP, HANDOVER), { message: "no such program" });
    assert.deepEqual([...Deno.readDirSync(state.detached)], []);
  });
});

Deno.test("a detached program's streams lie in files, and its progress tells the last whole line", async () => {
  await inside(async (host, state) => {
    const told: Progress[] = [];
    using output = await DetachedOutput.open(host, state, OP, (progress) => told.push(progress));
    const { sinks } = output;
    const write = async (text: string): Promise<void> => {
      await sinks.stdout(new TextEncoder().encode(text));
      await host.clock.sleep(600);
    };
    await write("one\ntw");
    await write("o\nthr");
    await sinks.stderr(new TextEncoder().encode("oops\n"));
    assert.deepEqual(told.map(({ message }) => message.split("last: ")[1]).slice(0, 2), ["one", "two"]);
    const { stdout_file, stderr_file } = detachedFiles(state, OP);
    assert.equal(await Deno.readTextFile(stdout_file), "one\ntwo\nthr");
    assert.equal(await Deno.readTextFile(stderr_file), "oops\n");
  });
});
