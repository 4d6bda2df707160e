import assert from "node:assert/strict";
import { type ErrorCode, HvError } from "../../../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../../../src/config/config.ts";
import type { Vm } from "../../../../src/contract/vm.ts";
import type { CrashAbilities } from "../../../../src/drivers/crash_abilities.ts";
import type { Driver } from "../../../../src/drivers/driver.ts";
import { findLogin } from "../../../../src/flows/guest/guest_login.ts";
import { proveLogin } from "../../../../src/flows/guest/prove_login.ts";
import { type AccessWish, type GuestScope, useGuest } from "../../../../src/flows/guest/use_guest.ts";
import type { ByteSink, ChannelName, GuestExit } from "../../../../src/guest/channel.ts";
import type { GuestLogin } from "../../../../src/guest/login.ts";
import { StateFolder } from "../../../../src/state/layout.ts";
import { failureOf } from "../../../support/failures.ts";
import { MemoryDriver } from "../../../support/memory_driver.ts";
import { MemoryGuest } from "../../../support/memory_guest.ts";
import { plainGuestFolder } from "../../../support/plain_guest_folder.ts";
import { ScriptedHost } from "../../../support/scripted_host.ts";

/** A channel that fails as it is told, and else answers with a boot id. */
class ScriptedWay extends MemoryGuest {
  asked = 0;
  /** What its next calls fail with, in order. */
  readonly failures: ErrorCode[];
  boots = ["boot-1"];

  constructor(name: ChannelName, ...failures: ErrorCode[]) {
    super();
    Object.defineProperty(this, "name", { value: name });
    this.failures = failures;
  }

  override async exec(_: unknown, { stdout }: { stdout: ByteSink }): Promise<GuestExit> {
    this.asked++;
    const code = this.failures.shift();
    if (code !== undefined) throw new HvError(code, `${this.name} failed`);
    const boot = this.boots.length > 1 ? this.boots.shift() : this.boots[0];
    await stdout(new TextEncoder().encode(`${boot}\n`));
    return { exit_code: 0, signal: null };
  }
}

const UNASKED = {
  configure: () => Promise.reject(new Error("not asked for")),
  finishConsole: () => Promise.reject(new Error("not asked for")),
  told: () => Promise.reject(new Error("not asked for")),
};

interface Scene extends AsyncDisposable {
  scope: GuestScope & { host: ScriptedHost };
  warnings: string[];
  logins: (GuestLogin | undefined)[];
  use(wish?: AccessWish): Promise<{ channel: string; channels_not_used?: unknown }>;
}

async function openScene(...ways: ScriptedWay[]): Promise<Scene> {
  const host = await ScriptedHost.open();
  const memory = new MemoryDriver();
  const id = await memory.vms.create({ name: "web", image: "tiny", memory_mb: 64, cpus: 1 });
  await memory.vms.start(id);
  const vm: Vm = await memory.vms.get(id);
  const logins: (GuestLogin | undefined)[] = [];
  const driver: Driver = {
    ...memory,
    name: "memory",
    features: memory.features,
    vms: memory.vms,
    crash: () => Promise.resolve(undefined),
    diagnose: () => Promise.resolve([]),
    close: () => Promise.resolve(),
    channels(_, login) {
      logins.push(login);
      return ways;
    },
    guestFolder: () => plainGuestFolder(`${host.root}/guest`),
  };
  const warnings: string[] = [];
  const scope = {
    host,
    config: DEFAULT_CONFIG,
    driver,
    vm,
    state: new StateFolder(`${host.root}/state`),
    signal: new AbortController().signal,
    warn: (text: string) => void warnings.push(text),
  };
  const nothing = { stdout: () => Promise.resolve(), stderr: () => Promise.resolve() };
  return {
    scope,
    warnings,
    logins,
    use: (wish = {}) =>
      useGuest(
        scope,
        wish,
        (channel) => channel.exec({ argv: ["true"] }, nothing, new AbortController().signal),
      ),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

Deno.test("where nobody answers the next way is taken, which is said and remembered", async () => {
  const [agent, ssh] = [new ScriptedWay("agent", "hv.guest_not_ready"), new ScriptedWay("ssh")];
  await using scene = await openScene(agent, ssh);
  scene.scope.host.variables.set("HVLAB_GUEST_USER", "root");
  const first = await scene.use();
  assert.equal(first.channel, "ssh");
  assert.deepEqual(first.channels_not_used, [{ channel: "agent", reason: "agent failed" }]);
  assert.deepEqual(scene.warnings, ['"ssh" was used: agent failed']);
  const second = await scene.use();
  assert.deepEqual([second.channel, agent.asked], ["ssh", 1]);
  assert.match(JSON.stringify(second.channels_not_used), /answered before for this image/);
});

Deno.test("a refused login, and whatever else may have begun something, is never followed by another way", async () => {
  for (const code of ["hv.guest_auth", "hv.outcome_unknown", "hv.guest_identity", "hv.timeout"] as const) {
    const [agent, ssh] = [new ScriptedWay("agent", code), new ScriptedWay("ssh")];
    await using scene = await openScene(agent, ssh);
    scene.scope.host.variables.set("HVLAB_GUEST_USER", "root");
    const failure = await failureOf(code, () => scene.use());
    assert.equal(ssh.asked, 0);
    assert.equal(failure.context.channel, "agent");
    assert.match(JSON.stringify(failure.context.channels_not_used), /agent comes first/);
  }
});

Deno.test("without anybody to log in as nothing is tried beside the agent", async () => {
  const [agent, ssh] = [new ScriptedWay("agent", "hv.guest_not_ready"), new ScriptedWay("ssh")];
  await using scene = await openScene(agent, ssh);
  await failureOf("hv.guest_not_ready", () => scene.use());
  assert.equal(ssh.asked, 0);
});

Deno.test("each field of a login comes from the call, else from the environment, else from the store", async () => {
  await using scene = await openScene(new ScriptedWay("agent"));
  const { host, driver, vm } = scene.scope;
  const find = (wish = {}): Promise<GuestLogin | undefined> => findLogin(host, driver, vm, wish);
  assert.equal(await find(), undefined);
  assert.deepEqual(await find({ user: "ann" }), { user: "ann" });
  host.variables.set("HVLAB_GUEST_USER", "root").set("HVLAB_GUEST_PASSWORD", "x").set("OTHER", "y");
  const byVariable = (user: string, name: string): GuestLogin => ({
    user,
    password: { kind: "variable", name },
  });
  assert.deepEqual(await find(), byVariable("root", "HVLAB_GUEST_PASSWORD"));
  // The environment's password is that of its user, and nobody else's.
  assert.deepEqual(await find({ user: "ann" }), { user: "ann" });
  assert.deepEqual(await find({ password_from_env: "OTHER" }), byVariable("root", "OTHER"));
  await failureOf("hv.guest_auth", () => find({ password_from_env: "UNSET" }));
  host.variables.delete("HVLAB_GUEST_USER");
  await failureOf("hv.usage", () => find({ password_from_env: "OTHER" }));
});

Deno.test("a login waits for a guest on its way, and for a boot that is not the one before", async () => {
  const agent = new ScriptedWay("agent", "hv.guest_not_ready", "hv.outcome_unknown");
  agent.boots = ["old", "old", "new"];
  await using scene = await openScene(agent);
  const { vm, ...scope } = scene.scope;
  const proof = await proveLogin(scope, vm, { notBoot: "old" }, new AbortController().signal);
  assert.deepEqual([proof.boot_id, agent.asked, proof.channel], ["new", 5, "agent"]);
});

Deno.test("a refused login ends the wait at once, and a passed limit tells the last failure", async () => {
  const refusing = new ScriptedWay("agent", "hv.guest_auth");
  await using scene = await openScene(refusing);
  const { vm, ...scope } = scene.scope;
  await failureOf("hv.guest_auth", () => proveLogin(scope, vm, {}, new AbortController().signal));
  assert.equal(refusing.asked, 1);

  const limit = new AbortController();
  const late = new HvError("hv.timeout", "The time limit of 1 s has passed");
  class Never extends ScriptedWay {
    override exec(_: unknown, __: { stdout: ByteSink }): Promise<GuestExit> {
      if (++this.asked === 3) limit.abort(late);
      return Promise.reject(new HvError("hv.guest_not_ready", "its agent does not answer"));
    }
  }
  const never = new Never("agent");
  await using other = await openScene(never);
  const { vm: second, ...around } = other.scope;
  const failure = await failureOf("hv.timeout", () => proveLogin(around, second, {}, limit.signal));
  assert.match(JSON.stringify(failure.context.last_failure), /does not answer/);
  assert.equal(never.asked, 3);
});

Deno.test("a guest that has crashed is refused with what its policy kept", async () => {
  await using scene = await openScene(new ScriptedWay("agent"));
  const { driver, vm } = scene.scope;
  const kept = { folder: "/crashes/web", core: "/crashes/web/memory.elf" };
  const looks: CrashAbilities["kept"][] = [
    () => Promise.resolve({ state: "kept", kept }),
    () => Promise.resolve({ state: "open" }),
    () => Promise.reject(new HvError("hv.io", "The note cannot be read")),
  ];
  const failures = [];
  for (const look of looks) {
    const crashes: CrashAbilities = { ...UNASKED, kept: look };
    const scope = {
      ...scene.scope,
      driver: { ...driver, crashes },
      vm: { ...vm, state: "crashed" as const },
    };
    const using = () => useGuest(scope, {}, () => Promise.reject(new Error("not reached")));
    failures.push(await failureOf("hv.guest_crashed", using));
  }
  const [told, ...plain] = failures;
  const restart = `Restart the VM with \`hvlab vm restart ${vm.id} --mode off\``;
  assert.equal(told?.hint, `${restart}. The crash is kept: hvlab dump triage /crashes/web/memory.elf`);
  assert.deepEqual(told.context.crash, kept);
  for (const failure of plain) assert.deepEqual([failure.hint, failure.context.crash], [restart, undefined]);
});
