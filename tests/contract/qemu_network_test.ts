/** Real guests on networks: what they send arrives where it should, and nowhere else. */

import assert from "node:assert/strict";
import { HvError } from "../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import type { Forward } from "../../src/contract/network.ts";
import type { NicAbilities, SwitchAbilities } from "../../src/drivers/network_abilities.ts";
import { openQemuDriver } from "../../src/drivers/qemu/driver.ts";
import { abilityOf } from "../../src/flows/abilities.ts";
import { openChannel } from "../../src/flows/guest/open_channel.ts";
import { runInGuest } from "../../src/flows/guest/run_in_guest.ts";
import { waitUntil } from "../../src/flows/waiting/wait_until.ts";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";

const ECHO =
  "nc -ll -p 8080 -e /bin/cat >/dev/null 2>&1 & until netstat -ltn | grep -q :8080; do usleep 20000; done";

async function shell({ driver, host, scope }: QemuLab, id: string, script: string): Promise<string> {
  const clock = host.clock;
  const vm = await waitUntil(driver, id, "heartbeat", { ...scope, clock });
  const argv = ["/bin/sh", "-c", script];
  const { stdout } = await runInGuest(openChannel(driver, vm), { argv }, { ...scope, clock });
  return stdout.trim();
}

/** Sends a text through a port of the host and gives what comes back; `undefined` when nobody is there. */
async function echo(port: number): Promise<string | undefined> {
  try {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await connection.write(new TextEncoder().encode("hello, guest"));
    await connection.closeWrite();
    return await new Response(connection.readable).text();
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return undefined;
    throw error;
  }
}

async function forward(lab: QemuLab, id: string, host_port: number | "auto"): Promise<Forward> {
  const wish = { guest_port: 8080, host_address: "127.0.0.1", host_port };
  return await abilityOf(lab.driver, "forwards").add(id, wish, lab.scope);
}

/** Gives a VM a named port behind another one; those that somebody has are passed over. */
async function forwardBehind(lab: QemuLab, id: string, port: number): Promise<Forward> {
  for (let named = port + 1;; named++) {
    try {
      return await forward(lab, id, named);
    } catch (error) {
      if (!(error instanceof HvError && error.context.found === "taken")) throw error;
    }
  }
}

qemuTest("a service in a guest is reached through ports of the host, as long as they last", async (lab) => {
  const { driver, scope } = lab;
  const forwards = abilityOf(driver, "forwards");
  const warnings: string[] = [];
  const id = await driver.vms.create(lab.vm(), scope);
  const kept = await forward(lab, id, "auto");
  assert.deepEqual([kept.open, kept.lasting, kept.auto], [false, true, true]);
  await driver.vms.start(id, scope);
  await shell(lab, id, ECHO);
  assert.equal(
    (await forward(lab, id, "auto")).host_port,
    kept.host_port,
    "the same wish gives the same port",
  );
  assert.equal(await echo(kept.host_port), "hello, guest");

  const named = await forwardBehind(lab, id, kept.host_port);
  const { host_port: free } = named;
  assert.equal(await echo(named.host_port), "hello, guest");
  {
    await using reach = await forwards.reach(id, 8080, scope.signal);
    assert.ok([kept.host_port, named.host_port].includes(reach.port), "what is open serves");
  }
  const gone = await forwards.remove(id, { guest_port: 8080 }, scope);
  assert.deepEqual(gone.map(({ open }) => open), [false, false]);
  assert.equal(await echo(kept.host_port), undefined);
  await failureOf("hv.not_found", () => forwards.remove(id, { guest_port: 8080 }, scope));
  {
    await using reach = await forwards.reach(id, 8080, scope.signal);
    assert.equal(await echo(reach.port), "hello, guest");
    const [passing] = await forwards.list(id, scope.signal);
    assert.deepEqual([passing?.host_port, passing?.lasting, passing?.open], [reach.port, false, true]);
  }
  assert.deepEqual(await forwards.list(id, scope.signal), []);

  // Ports that somebody takes while the VM is off.
  const chosen = await forward(lab, id, "auto");
  await driver.vms.stop(id, "off", scope);
  {
    using _other = Deno.listen({ hostname: "127.0.0.1", port: chosen.host_port });
    await driver.vms.start(id, { ...scope, warn: (text) => warnings.push(text) });
    const [moved] = await forwards.list(id, scope.signal);
    assert.notEqual(moved?.host_port, chosen.host_port);
    assert.equal(moved?.open, true);
    assert.match(warnings.join(), /its old one was taken/);
  }
  await forward(lab, id, free);
  await driver.vms.stop(id, "off", scope);
  {
    using _other = Deno.listen({ hostname: "127.0.0.1", port: free });
    const refused = await failureOf("hv.conflict", () => driver.vms.start(id, scope));
    assert.deepEqual([refused.context.host_port, refused.context.pid], [free, Deno.pid]);
    assert.equal((await driver.vms.get(id, scope.signal)).state, "off");
  }
  await driver.vms.remove(id, scope);
});

qemuTest("a port is given once, whoever asks", async (lab) => {
  const { driver, scope } = lab;
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const ids = await Promise.all(names.map((name) => driver.vms.create(lab.vm({ name }), scope)));
  const given = await Promise.all(ids.map((id) => forward({ ...lab, driver: lab.another() }, id, "auto")));
  assert.equal(new Set(given.map(({ host_port }) => host_port)).size, names.length);
  const [first = "", second = ""] = ids;
  const port = given[0]?.host_port ?? 0;
  const reserved = await failureOf("hv.conflict", () => forward(lab, second, port));
  assert.equal(reserved.context.vm, first);
  for (const hostname of ["127.0.0.1", "0.0.0.0", "::1"]) {
    using other = Deno.listen({ hostname, port: 0 });
    const taken = await failureOf("hv.conflict", () => forward(lab, second, other.addr.port));
    assert.equal(taken.context.pid, Deno.pid, hostname);
  }
  const wish = { guest_port: 1, host_address: "192.0.2.77", host_port: "auto" as const };
  await failureOf("hv.usage", () => abilityOf(driver, "forwards").add(second, wish, scope));
  const deaf = await driver.vms.create(lab.vm({ name: "deaf", network: false }), scope);
  await failureOf("hv.conflict", () => forward(lab, deaf, "auto"));
  await failureOf("hv.unavailable", () => abilityOf(driver, "forwards").reach(first, 22, scope.signal));
});

const PING = (address: string): string => `ping -c 1 -W 2 ${address} >/dev/null 2>&1`;
/** Does not end before an answer has come. */
const REACH = (address: string): string => `until ${PING(address)}; do :; done; echo yes`;
const MISS = (address: string): string => `${PING(address)} && echo yes || echo no`;

async function newSwitch(switches: SwitchAbilities, lab: QemuLab, name: string): Promise<string> {
  return await switches.create({ name, type: "private" }, lab.scope);
}

async function idOfNic(nics: NicAbilities, lab: QemuLab, vm: string): Promise<string> {
  return (await nics.list(vm, lab.scope.signal)).nics.at(-1)?.id ?? "";
}

qemuTest("guests on one switch reach each other, and nothing else", async (lab) => {
  const { driver, scope } = lab;
  const switches = abilityOf(driver, "switches");
  const nics = abilityOf(driver, "nics");
  const [first, other] = [await newSwitch(switches, lab, "lab"), await newSwitch(switches, lab, "other")];
  const web = await driver.vms.create(lab.vm(), scope);
  const db = await driver.vms.create(lab.vm({ name: "db", switch: "lab" }), scope);
  for (const id of [web, db]) await driver.vms.start(id, scope);
  await waitUntil(driver, web, "heartbeat", { ...scope, clock: lab.host.clock });
  assert.equal(await nics.add(web, { switch: first }, scope), "nic-1");
  const up = (card: string, address: string): string =>
    `until ip link show ${card} >/dev/null 2>&1; do usleep 20000; done; ip addr add ${address}/24 dev ${card}; ip link set ${card} up; ip -4 -o addr show ${card}`;
  assert.match(await shell(lab, web, up("eth1", "10.77.0.1")), /10\.77\.0\.1/);
  assert.match(await shell(lab, db, `ip addr flush dev eth0; ${up("eth0", "10.77.0.2")}`), /10\.77\.0\.2/);

  assert.equal(await shell(lab, web, REACH("10.77.0.2")), "yes");
  const payload = "dd if=/dev/zero bs=1k count=512 2>/dev/null | sha256sum";
  await shell(
    lab,
    web,
    "nc -l -p 9 -e /bin/dd of=/tmp/got >/dev/null 2>&1 & until netstat -ltn | grep -q ':9 '; do usleep 20000; done",
  );
  await shell(lab, db, "dd if=/dev/zero bs=1k count=512 2>/dev/null | nc 10.77.0.1 9");
  assert.equal(
    await shell(
      lab,
      web,
      "until [ $(wc -c </tmp/got) -ge 524288 ]; do usleep 20000; done; sha256sum </tmp/got",
    ),
    await shell(lab, db, payload),
  );
  assert.equal(await shell(lab, db, `ip route add default via 10.77.0.1; ${MISS("10.0.2.2")}`), "no");
  const { nics: seen } = await nics.list(web, scope.signal);
  assert.deepEqual(seen.map(({ id, now, next_start, switch: on }) => [id, now, next_start, on]), [
    ["nic-0", true, true, "default"],
    ["nic-1", true, true, "lab"],
  ]);
  assert.deepEqual(seen[1]?.addresses.find(({ address }) => address === "10.77.0.1")?.source, "agent");

  const card = await idOfNic(nics, lab, web);
  await nics.set(web, card, { switch: other }, scope);
  assert.equal(await shell(lab, web, MISS("10.77.0.2")), "no");
  await nics.set(web, card, { switch: first }, scope);
  assert.equal(await shell(lab, web, REACH("10.77.0.2")), "yes");
  await nics.set(web, card, { switch: null }, scope);
  assert.equal(await shell(lab, web, MISS("10.77.0.2")), "no");
  const used = await failureOf("hv.conflict", () => switches.remove(first, scope));
  assert.deepEqual(used.context.vms, [db]);

  await nics.remove(web, card, scope);
  assert.equal(await shell(lab, web, "ls /sys/class/net"), "eth0\nlo");
  await nics.remove(web, "nic-0", scope);
  const [last] = (await nics.list(web, scope.signal)).nics;
  assert.deepEqual([last?.id, last?.now, last?.next_start], ["nic-0", true, false]);
  await failureOf("hv.conflict", () => forward(lab, web, "auto"));
  for (const id of [web, db]) await driver.vms.remove(id, scope);
  for (const id of [first, other]) await switches.remove(id, scope);
  assert.deepEqual((await switches.list(scope.signal)).map(({ id }) => id), ["default"]);
});

qemuTest(
  "a card that was plugged in is there after a restart, and in memory that was saved with it",
  async (lab) => {
    const { driver, scope } = lab;
    const nics = abilityOf(driver, "nics");
    const id = await driver.vms.create(lab.vm(), scope);
    await driver.vms.start(id, scope);
    await waitUntil(driver, id, "heartbeat", { ...scope, clock: lab.host.clock });
    const segment = await newSwitch(abilityOf(driver, "switches"), lab, "lab");
    const card = await nics.add(id, { switch: segment, mac: "52-54-00-AA-BB-CC" }, scope);
    const kept = await forward(lab, id, "auto");
    const see = "until cat /sys/class/net/eth1/address 2>/dev/null; do usleep 20000; done";
    assert.equal(await shell(lab, id, see), "52:54:00:aa:bb:cc");
    await shell(lab, id, "touch /tmp/before");
    await driver.vms.stop(id, "save", scope);
    await failureOf("hv.conflict", () => nics.remove(id, card, scope));
    await driver.vms.start(id, scope);
    assert.equal(await shell(lab, id, `ls /tmp/before; ${see}`), "/tmp/before\n52:54:00:aa:bb:cc");
    await shell(lab, id, ECHO);
    assert.equal(await echo(kept.host_port), "hello, guest");
    await failureOf("hv.conflict", () => nics.remove(id, "nic-0", scope));
    await failureOf("hv.unsupported", () => nics.set(id, card, { vlan: 7 }, scope));
    await failureOf("hv.not_found", () => nics.set(id, "nic-9", { switch: null }, scope));
    await driver.vms.remove(id, scope);
  },
);

qemuTest("a card is on a tap device only as long as the policy names it", async (lab) => {
  const { driver, host, state, findings, scope } = lab;
  const policy = { ...DEFAULT_CONFIG.policy, taps: ["hvlab-none"] };
  const allowed = openQemuDriver({ host, state, findings, config: { ...DEFAULT_CONFIG, policy } });
  const id = await driver.vms.create(lab.vm(), scope);
  const wish = { switch: "tap:hvlab-none" };
  await failureOf("hv.not_found", () => abilityOf(driver, "nics").add(id, wish, scope));
  const card = await abilityOf(allowed, "nics").add(id, wish, scope);
  const tap = (await abilityOf(allowed, "switches").list(scope.signal)).at(-1);
  assert.deepEqual([tap?.name, tap?.type, tap?.managed, tap?.vms], ["hvlab-none", "external", false, [id]]);
  const refused = await failureOf("hv.policy_denied", () => driver.vms.start(id, scope));
  assert.equal(refused.context.tap, "hvlab-none");
  await abilityOf(driver, "nics").remove(id, card, scope);
  await driver.vms.start(id, scope);
  await allowed.close();
});
