import assert from "node:assert/strict";
import fc from "fast-check";
import { HvError } from "../../../../../src/base/errors.ts";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { joinPath } from "../../../../../src/base/paths.ts";
import { openAgentChannel } from "../../../../../src/drivers/qemu/agent/channel.ts";
import { AgentLink } from "../../../../../src/drivers/qemu/agent/link.ts";
import { GuestPipe } from "../../../../../src/drivers/qemu/agent/pipe.ts";
import type { GuestChannel, GuestCommand } from "../../../../../src/guest/channel.ts";
import { passingName } from "../../../../../src/guest/passing.ts";
import { DROP_FILE } from "../../../../../src/guest/posix/file_scripts.ts";
import type { Host } from "../../../../../src/host/host.ts";
import type { Lock, Locks } from "../../../../../src/host/locks.ts";
import { failureOf } from "../../../../support/failures.ts";
import { FakeAgent, type FakeAnswer, type FakeBehaviour } from "../../../../support/fake_agent.ts";
import { FakeGuestPipe } from "../../../../support/fake_guest_pipe.ts";
import { openHurriedHost } from "../../../../support/hurried_host.ts";
import { withTemporaryFolder } from "../../../../support/temporary_folder.ts";

interface Scene {
  agent: FakeAgent;
  channel: GuestChannel;
  host: Host;
  socket: string;
  lock: string;
  signal: AbortSignal;
}

type Crash = { reason: string } | undefined;

interface SceneOptions {
  isCrashed?: () => Promise<Crash>;
  /** For waits in which nothing comes: so many of their seconds pass in one. What does come must come within that as well. */
  factor?: number;
}

async function withAgent(
  behaviour: FakeBehaviour,
  work: (scene: Scene) => Promise<unknown>,
  { isCrashed = () => Promise.resolve(undefined), factor = 1 }: SceneOptions = {},
): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const host = openHurriedHost(factor);
    const socket = joinPath(folder, "agent");
    const lock = joinPath(folder, "agent.lock");
    const agent = new FakeAgent(socket, behaviour);
    const channel = openAgentChannel({ host, socket, lock, isCrashed });
    const ended = new AbortController();
    try {
      await work({ agent, channel, host, socket, lock, signal: ended.signal });
    } finally {
      channel.close();
      await agent.close();
    }
  });
}

const nowhere = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
const TRUE: GuestCommand = { argv: ["true"] };

function refuse(errorClass: string, desc: string): FakeAnswer {
  return { error: { class: errorClass, desc } };
}

Deno.test("a ping answered late counts as soon as it comes", async () => {
  const boot = Promise.withResolvers<boolean>();
  await withAgent({ sync: () => boot.promise }, async ({ agent, channel, signal }) => {
    const pinged = channel.ping(signal);
    while (agent.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    boot.resolve(true);
    await pinged;
    assert.equal(agent.requests.at(-1), "guest-ping");
  });
});

Deno.test("a ping finds the socket when it comes to be", async () => {
  await withTemporaryFolder(async (folder) => {
    const host = openHurriedHost();
    const socket = joinPath(folder, "agent");
    const isCrashed = () => Promise.resolve(undefined);
    const channel = openAgentChannel({ host, socket, lock: joinPath(folder, "lock"), isCrashed });
    const pinged = channel.ping(new AbortController().signal);
    const agent = new FakeAgent(socket);
    await pinged;
    channel.close();
    await agent.close();
  });
});

Deno.test("a guest that never answers is not ready, and the wait is stated", async () => {
  await withAgent({ sync: () => false }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.guest_not_ready", () => channel.exec(TRUE, nowhere, signal));
    assert.match(failure.message, /its agent does not answer, waited [1-9]\d+(\.\d)? of 10 s/);
    assert.equal(failure.context.connected, true);
    assert.equal(failure.retryable, true);
  }, { factor: 20 });
});

Deno.test("no socket at all is told apart from no answer", async () => {
  await withTemporaryFolder(async (folder) => {
    const isCrashed = () => Promise.resolve(undefined);
    const host = openHurriedHost();
    const channel = openAgentChannel({
      host,
      socket: joinPath(folder, "none"),
      lock: joinPath(folder, "lock"),
      isCrashed,
    });
    const failure = await failureOf(
      "hv.guest_not_ready",
      () => channel.exec(TRUE, nowhere, new AbortController().signal),
    );
    assert.match(failure.message, /nobody listens/);
    assert.equal(failure.context.connected, false);
  });
});

Deno.test("a wait ends with the signal's own reason", async () => {
  await withAgent({ sync: () => false }, async ({ channel }) => {
    const reason = new HvError("hv.timeout", "The time limit of 2 s has passed");
    const caller = new AbortController();
    const pinged = channel.ping(caller.signal);
    caller.abort(reason);
    assert.equal(await failureOf("hv.timeout", () => pinged), reason);
  });
});

Deno.test("a crash ends a wait that would go on", async () => {
  await withAgent({ sync: () => false }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.guest_crashed", () => channel.ping(signal));
    assert.equal(failure.context.reason, "Fatal exception");
  }, { isCrashed: () => Promise.resolve({ reason: "Fatal exception" }), factor: 20 });
});

Deno.test("an agent that forbids exec is up, and the setting is named", async () => {
  const desc = "Command guest-exec has been disabled";
  const answer = (name: string): FakeAnswer =>
    name === "guest-exec" ? refuse("CommandNotFound", desc) : { return: {} };
  await withAgent({ answer }, async ({ channel, signal }) => {
    await channel.ping(signal);
    const failure = await failureOf("hv.guest_denied", () => channel.exec(TRUE, nowhere, signal));
    assert.equal(failure.context.command, "guest-exec");
    assert.match(failure.hint ?? "", /block-rpcs.*qemu-ga\.conf/);
  });
});

Deno.test("frozen file systems are a wrong state, not a ban", async () => {
  const desc = "Command guest-exec has been disabled: the agent is in frozen state";
  await withAgent({ answer: () => refuse("CommandNotFound", desc) }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.conflict", () => channel.exec(TRUE, nowhere, signal));
    assert.equal(failure.context.found, "frozen");
  });
});

Deno.test("a guest without a shell is not supported, and what it needs is named", async () => {
  const desc = "Failed to execute child process “/bin/sh” (No such file or directory)";
  await withAgent({ answer: () => refuse("GenericError", desc) }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.unsupported", () => channel.exec(TRUE, nowhere, signal));
    assert.match(failure.hint ?? "", /mkfifo/);
  });
});

Deno.test("old answers and garbage before the sync are nobody's", async () => {
  const garbage = new Uint8Array([
    ...new TextEncoder().encode('{"return": {"pid": 1}}\n{"return": 12}\nnot json at all\n{"ret'),
    0xff,
    ...new TextEncoder().encode('{"return": 77}\n'),
  ]);
  await withAgent({ greeting: garbage, splits: true }, async ({ agent, channel, signal }) => {
    await channel.ping(signal);
    assert.deepEqual(agent.requests, ["guest-sync-delimited", "guest-ping"]);
  });
});

Deno.test("an answer that comes after its time is dropped, and the next question starts afresh", async () => {
  let held: Promise<void> | undefined;
  let pings = 0;
  const late = Promise.withResolvers<void>();
  const answer = async (_: string, __: JsonObject): Promise<FakeAnswer> => {
    if (++pings > 1) return { return: {} };
    held = late.promise;
    await held;
    return refuse("GenericError", "this is the late one");
  };
  await withAgent({ answer }, async ({ agent, channel, host, signal }) => {
    const pinged = channel.ping(signal);
    while (held === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    await host.clock.sleep(6_000);
    late.resolve();
    await pinged;
    assert.deepEqual(agent.requests.slice(0, 3), [
      "guest-sync-delimited",
      "guest-ping",
      "guest-sync-delimited",
    ]);
  }, { factor: 5 });
});

Deno.test("an agent that dies between exec and its status leaves the outcome unknown", async () => {
  const answer = (name: string, _: JsonObject, fake: FakeAgent): FakeAnswer => {
    if (name === "guest-exec") return { return: { pid: 42 } };
    if (name === "guest-file-open") {
      return refuse("GenericError", "failed to open file: No such file or directory");
    }
    fake.hangUp();
    return undefined;
  };
  await withAgent({ answer }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.outcome_unknown", () => channel.exec(TRUE, nowhere, signal));
    assert.deepEqual(failure.context.commands, ["guest-exec-status"]);
  });
});

Deno.test("a restarted agent that no longer knows the program leaves the outcome unknown", async () => {
  const answer = (name: string): FakeAnswer => {
    if (name === "guest-exec") return { return: { pid: 42 } };
    if (name === "guest-file-open") {
      return refuse("GenericError", "failed to open file: No such file or directory");
    }
    return refuse("GenericError", "Invalid parameter 'pid'");
  };
  await withAgent({ answer }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.outcome_unknown", () => channel.exec(TRUE, nowhere, signal));
    assert.equal(failure.context.guest_pid, 42);
  });
});

Deno.test("a restarted agent that no longer has a file open leaves the outcome unknown", async () => {
  const answer = (name: string): FakeAnswer => {
    if (name === "guest-exec") return { return: { pid: 42 } };
    if (name === "guest-exec-status") return { return: { exited: true, exitcode: 0 } };
    if (name === "guest-file-open") return { return: 1000 };
    return refuse("GenericError", "handle '1000' has not been found");
  };
  await withAgent({ answer }, async ({ channel, signal }) => {
    const writing = () =>
      channel.writeFile("/tmp/a", () => Promise.resolve(null), { overwrite: false }, signal);
    const failure = await failureOf("hv.outcome_unknown", writing);
    assert.match(failure.hint ?? "", /restarted meanwhile/);
  });
});

Deno.test("an agent that no longer has a file open can still drop what was written of it", async () => {
  const dropped: string[] = [];
  const answer = (name: string, values: JsonObject): FakeAnswer => {
    if (name === "guest-exec") {
      const [, script, , path] = Array.isArray(values.arg) ? values.arg.map(String) : [];
      if (script === DROP_FILE) dropped.push(path ?? "");
      return { return: { pid: 42 } };
    }
    if (name === "guest-exec-status") return { return: { exited: true, exitcode: 0 } };
    if (name === "guest-file-open") return { return: 1000 };
    return refuse("GenericError", "handle '1000' has not been found");
  };
  await withAgent({ answer }, async ({ channel, signal }) => {
    const options = { overwrite: false, token: "01234567" };
    const writing = () => channel.writeFile("/tmp/a", () => Promise.resolve(null), options, signal);
    await failureOf("hv.outcome_unknown", writing);
    assert.deepEqual(dropped, [passingName("/tmp/a", "01234567")]);
  });
});

Deno.test("an endless line does not fill the memory", async () => {
  const answer = async (_: string, __: JsonObject, fake: FakeAgent): Promise<FakeAnswer> => {
    for (let sent = 0; sent < 6; sent++) await fake.say(new Uint8Array(1024 * 1024).fill(65)).catch(() => {});
    return undefined;
  };
  await withAgent({ answer }, async ({ channel, signal }) => {
    const failure = await failureOf("hv.outcome_unknown", () => channel.exec(TRUE, nowhere, signal));
    assert.match(failure.message, /a line of more than 4194304 bytes/);
  });
});

Deno.test("what no guest program could be given is refused before the guest is asked", async () => {
  await withAgent({}, async ({ agent, channel, signal }) => {
    const commands: GuestCommand[] = [
      { argv: [] },
      { argv: ["a\0b"] },
      { argv: ["half \ud800"] },
      { argv: ["true"], cwd: "/a\0b" },
      { argv: ["true"], env: { "": "x" } },
      { argv: ["true"], env: { "A=B": "x" } },
      { argv: ["true"], env: { "1A": "x" } },
      { argv: ["true"], env: { hv_base: "x" } },
      { argv: ["true"], env: { A: "x\0" } },
    ];
    for (const command of commands) {
      await failureOf("hv.usage", () => channel.exec(command, nowhere, signal));
    }
    await failureOf("hv.usage", () => channel.readFile("relative", () => Promise.resolve(), signal));
    assert.equal(agent.clients, 0);
  });
});

Deno.test("two processes share one agent in turns", async () => {
  await withAgent({}, async ({ agent, host, socket, lock, signal, channel }) => {
    const other: Host = { ...host };
    const isCrashed = () => Promise.resolve(undefined);
    const second = openAgentChannel({ host: other, socket, lock, isCrashed });
    const done = new AbortController();
    let first = 0;
    const busy = (async () => {
      for (; !done.signal.aborted; first++) await channel.ping(signal);
    })();
    while (first === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await second.ping(signal);
    second.close();
    const before = first;
    while (first === before) await new Promise((resolve) => setTimeout(resolve, 1));
    done.abort();
    await busy;
    assert.ok(agent.clients >= 3);
  });
});

Deno.test("an unused connection is given back by itself", async () => {
  await withAgent({}, async ({ channel, host, lock, signal }) => {
    await channel.ping(signal);
    assert.equal(await host.locks.tryTake(lock), undefined);
    using free = await host.locks.take(lock, AbortSignal.timeout(60_000));
    assert.ok(free);
  });
});

Deno.test("not a byte of a pipe is lost or added, however it fills", async () => {
  const writes = fc.array(
    fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(0, 1, 48, 4096, 65_536)),
    { minLength: 1, maxLength: 6 },
  );
  let pipe = new FakeGuestPipe(65_536);
  const answer = (name: string, values: JsonObject): FakeAnswer => pipe.answer(name, values);
  await withAgent({ answer }, async ({ host, socket, lock, signal }) => {
    const link = new AgentLink({ host, socket, lock, isCrashed: () => Promise.resolve(undefined) });
    await fc.assert(
      fc.asyncProperty(writes, async (lengths) => {
        pipe = new FakeGuestPipe(65_536);
        const reader = new GuestPipe(link, { reader: 1, writer: 2 });
        const [written, read]: [number[], number[]] = [[], []];
        const sink = (bytes: Uint8Array): Promise<void> => {
          for (const byte of bytes) read.push(byte);
          return Promise.resolve();
        };
        const drain = async (): Promise<boolean> => {
          const [probed] = await link.ask([reader.probe], { signal });
          return (await reader.drain(probed, sink, signal)).empty;
        };
        for (const length of lengths) {
          const bytes = crypto.getRandomValues(new Uint8Array(Math.min(length, pipe.room)));
          for (const byte of bytes) written.push(byte);
          pipe.write(bytes);
          if (length % 3 === 0) await drain();
        }
        while (!await drain());
        assert.deepEqual(read, written);
      }),
      { numRuns: 40 },
    );
    link.close();
  });
});

Deno.test("a round that begins during a look whether others wait keeps its connection", async () => {
  const reply = Promise.withResolvers<void>();
  let pings = 0;
  const answer = async (): Promise<FakeAnswer> => {
    if (++pings === 2) await reply.promise;
    return { return: {} };
  };
  await withAgent({ answer }, async ({ agent, host, socket, lock, signal }) => {
    const looking = Promise.withResolvers<void>();
    const somebodyWaits = Promise.withResolvers<undefined>();
    let looks = 0;
    const tryTake = (path: string): Promise<Lock | undefined> => {
      if (++looks > 1) return host.locks.tryTake(path);
      looking.resolve();
      return somebodyWaits.promise;
    };
    const locks: Locks = {
      tryTake,
      take: (path, signal) => host.locks.take(path, signal),
      share: (path, signal) => host.locks.share(path, signal),
    };
    const isCrashed = () => Promise.resolve(undefined);
    const link = new AgentLink({ host: { ...host, locks }, socket, lock, isCrashed });
    await link.ask([{ name: "guest-ping" }], { signal });
    await looking.promise;
    const asked = link.ask([{ name: "guest-ping" }], { signal });
    while (pings < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    somebodyWaits.resolve(undefined);
    await new Promise((resolve) => setTimeout(resolve, 5));
    reply.resolve();
    assert.deepEqual(await asked, [{ ok: true, value: {} }]);
    assert.equal(agent.clients, 1);
    link.close();
  });
});
