import assert from "node:assert/strict";
import { QmpSession, type SessionOptions } from "../../../../../src/drivers/qemu/monitor/qmp.ts";
import type { Connection } from "../../../../../src/host/sockets.ts";
import { failureOf } from "../../../../support/failures.ts";
import { type LineServer, ScriptedHost } from "../../../../support/scripted_host.ts";

const GREETING = JSON.stringify({ QMP: { version: {}, capabilities: ["oob"] } });

const NO_GREETING = "";

async function withMonitor(
  serve: LineServer,
  work: (connection: Connection, host: ScriptedHost) => Promise<void>,
  greeting = GREETING,
): Promise<void> {
  await using host = await ScriptedHost.open();
  const path = `${host.root}/monitor`;
  await host.sockets.listen(path, serve, greeting === NO_GREETING ? undefined : greeting);
  const connection = await host.sockets.connectUnix(path);
  assert.ok(connection !== undefined);
  await work(connection, host);
}

/** Answers the negotiation and leaves the rest to the test. */
function afterNegotiation(
  serve: (request: Request, answer: (line: string) => void, hangUp: () => void) => void,
): LineServer {
  return (line, answer, hangUp) => {
    const request: Request = JSON.parse(line);
    if (request.execute === "qmp_capabilities") answer(JSON.stringify({ return: {}, id: request.id }));
    else serve(request, answer, hangUp);
  };
}

interface Request {
  "execute"?: string;
  "exec-oob"?: string;
  arguments?: unknown;
  id: string;
}

Deno.test("answers are matched by id, whatever their order and whatever stands between them", async () => {
  const held: string[] = [];
  const serve = afterNegotiation(({ execute, id }, answer) => {
    held.push(JSON.stringify({ return: execute, id }));
    if (held.length < 2) return;
    answer(held[1] ?? "");
    answer(JSON.stringify({ event: "STOP", data: {}, timestamp: { seconds: 5, microseconds: 1500 } }));
    answer("this is no JSON");
    answer("[1, 2]");
    answer(JSON.stringify({ return: "of somebody else", id: "stranger" }));
    answer(held[0] ?? "");
  });
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    const events: unknown[] = [];
    session.onEvent((event) => events.push(event));
    const answers = await Promise.all([session.command("first"), session.command("second")]);
    assert.deepEqual(answers, ["first", "second"]);
    assert.deepEqual(events, [{ name: "STOP", data: {}, at: 5001 }]);
  });
});

Deno.test("a listener that was taken away hears nothing more", async () => {
  const serve = afterNegotiation(({ id }, answer) => {
    answer(JSON.stringify({ event: "RESUME" }));
    answer(JSON.stringify({ return: {}, id }));
  });
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    const events: string[] = [];
    const stop = session.onEvent(({ name, at }) => events.push(`${name} ${at}`));
    await session.command("one");
    stop();
    await session.command("two");
    assert.deepEqual(events, ["RESUME null"]);
  });
});

Deno.test("a greeting alone is not ready: the session opens when the negotiation has been answered", async () => {
  const asked: Request[] = [];
  await withMonitor((line, answer) => {
    const request: Request = JSON.parse(line);
    asked.push(request);
    answer(JSON.stringify({ return: {}, id: request.id }));
  }, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock, { outOfBand: true });
    await session.command("migrate-pause", undefined, { outOfBand: true });
    assert.deepEqual(asked[0]?.arguments, { enable: ["oob"] });
    assert.equal(asked[1]?.["exec-oob"], "migrate-pause");
  });
});

Deno.test("a monitor that accepts and says nothing is busy, not dead", async () => {
  await withMonitor(() => {}, async (connection, host) => {
    const failure = await failureOf("hv.conflict", () => QmpSession.open(connection, host.clock));
    assert.equal(failure.context.reason, "monitor_busy");
    assert.equal(failure.retryable, true);
    assert.equal(host.clock.passed, 2000);
  }, NO_GREETING);
});

Deno.test("whoever is patient with the greeting is so with the machine that is made behind it", async () => {
  /** How long it took to open a monitor that greets at once and negotiates after 20 s. */
  const open = async (options: SessionOptions): Promise<number> => {
    const over = new AbortController();
    let negotiate = (): void => {};
    const serve: LineServer = (line, answer) => {
      const { id }: Request = JSON.parse(line);
      negotiate = () => answer(JSON.stringify({ return: {}, id }));
    };
    let passed = 0;
    await withMonitor(serve, async (connection, { clock }) => {
      const slow = clock.sleep(20_000, over.signal).then(() => negotiate(), () => {});
      try {
        using _session = await QmpSession.open(connection, clock, options);
        passed = clock.passed;
      } finally {
        over.abort();
        await slow;
      }
    });
    return passed;
  };
  assert.equal(await open({ greetingMs: 30_000 }), 20_000);
  for (const options of [{}, { greetingMs: 500 }]) {
    const failure = await failureOf("hv.timeout", () => open(options));
    assert.deepEqual(failure.context, { command: "qmp_capabilities", timeout_ms: 10_000 });
  }
});

Deno.test("every command has a limit, and the one that is asked for counts", async () => {
  await withMonitor(afterNegotiation(() => {}), async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    const failure = await failureOf("hv.timeout", () => session.command("query-status"));
    assert.equal(failure.context.command, "query-status");
    assert.equal(host.clock.passed, 10_000);
    await failureOf("hv.timeout", () => session.command("savevm", {}, { timeoutMs: 120_000 }));
    assert.equal(host.clock.passed, 130_000);
  });
});

Deno.test("an answer that comes after its limit is nobody's", async () => {
  let late = "";
  const serve = afterNegotiation(({ execute, id }, answer) => {
    if (execute === "slow") late = JSON.stringify({ return: "slow", id });
    else {
      answer(late);
      answer(JSON.stringify({ return: "quick", id }));
    }
  });
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    await failureOf("hv.timeout", () => session.command("slow"));
    assert.equal(await session.command("quick"), "quick");
  });
});

Deno.test("a link that breaks leaves the outcome of what was sent unknown, and what was not sent undone", async () => {
  const serve = afterNegotiation((_request, _answer, hangUp) => hangUp());
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    const failure = await failureOf("hv.outcome_unknown", () => session.command("quit"));
    assert.equal(failure.context.command, "quit");
    await session.ended;
    assert.equal(session.isOpen, false);
    await failureOf("hv.unavailable", () => session.command("query-status"));
  });
});

Deno.test("QEMU's words come through when it refuses, and an unknown command is told apart", async () => {
  const serve = afterNegotiation(({ execute, id }, answer) => {
    const kind = execute === "strange" ? "CommandNotFound" : "GenericError";
    answer(JSON.stringify({ id, error: { class: kind, desc: `about ${execute}` } }));
  });
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    const refused = await failureOf("hv.job_failed", () => session.command("cont"));
    assert.deepEqual(refused.context, { command: "cont", qemu: "about cont", qmp_class: "GenericError" });
    await failureOf("hv.unsupported", () => session.command("strange"));
  });
});

Deno.test("an aborted wait ends with the signal's reason", async () => {
  const controller = new AbortController();
  const serve = afterNegotiation(() => controller.abort(new Error("enough")));
  await withMonitor(serve, async (connection, host) => {
    using session = await QmpSession.open(connection, host.clock);
    await assert.rejects(session.command("stop", {}, { signal: controller.signal }), /enough/);
  });
});
