/** Networks and devices of a simulated Windows host: what only Hyper-V has. */

import assert from "node:assert/strict";
import * as z from "zod/mini";
import { Device } from "../../src/contract/device.ts";
import { Forward, Nic, Switch } from "../../src/contract/network.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { endSharedHost, faultTest, type HyperVLab } from "../support/hyperv_lab.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 64 };

async function devicesOf({ lab }: Pick<HyperVLab, "lab">, kind: string): Promise<Device[]> {
  const { devices } = await lab.call("device_list", { vm: "web" });
  return z.array(Device).parse(devices).filter((device) => device.kind === kind);
}

/** A VM whose guest has an address on a switch that leads out through the host. */
async function behindNat({ lab, world }: HyperVLab): Promise<string> {
  const made = Switch.parse(
    await lab.call("switch_create", { name: "nat", type: "internal", nat: "192.168.77.0/24" }),
  );
  assert.deepEqual([made.nat, made.host, made.managed], ["192.168.77.0/24", true, true]);
  // WinNAT gives no addresses itself: the guest's own is in this network.
  const path = `${world.folder}/switches.json`;
  const known = z.object({ Switches: z.array(z.looseObject({ Id: z.string() })) })
    .parse(JSON.parse(await Deno.readTextFile(path)));
  const Switches = known.Switches.map((each) =>
    each.Id === made.id ? { ...each, Subnet: "192.168.77" } : each
  );
  await Deno.writeTextFile(path, JSON.stringify({ ...known, Switches }));
  await Deno.remove(`${world.folder}/index.txt`);
  await lab.call("vm_create", { name: "web", ...SMALL, switch: "nat" });
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  const nics = z.array(Nic).parse((await lab.call("nic_list", { vm: "web" })).nics);
  const address = nics[0]?.addresses.find((each) => each.address.startsWith("192.168.77."));
  assert.equal(address?.source, "integration_services");
  assert.ok(address.age_s >= 0 && Date.parse(address.seen_at) > 0);
  return address.address;
}

async function forwardsOf({ lab }: Pick<HyperVLab, "lab">): Promise<Forward[]> {
  return z.array(Forward).parse((await lab.call("forward_list", { vm: "web" })).forwards);
}

faultTest("ports of the host lead into guests behind NAT", async (host) => {
  const { lab } = host;
  await behindNat(host);
  const { id } = await lab.vm("vm_get", { vm: "web" });
  const auto = Forward.parse(await lab.call("forward_add", { vm: "web", guest_port: 22 }));
  assert.deepEqual(
    [auto.vm, auto.guest_port, auto.host_address, auto.auto, auto.open, auto.lasting],
    [id, 22, "0.0.0.0", true, true, true],
  );
  const again = Forward.parse(
    await lab.call("forward_add", { vm: "web", guest_port: 22, host_port: "auto" }),
  );
  assert.equal(again.host_port, auto.host_port);
  await lab.call("forward_add", { vm: "web", guest_port: 80, host_port: "28080" });
  assert.deepEqual((await forwardsOf(host)).map(({ guest_port, open }) => [guest_port, open]), [
    [22, true],
    [80, true],
  ]);

  await lab.call("vm_create", { name: "db", ...SMALL, switch: "nat" });
  await lab.call("vm_start", { vm: "db", until: "heartbeat" });
  const taken = await lab.failure("forward_add", { vm: "db", guest_port: 80, host_port: "28080" });
  assert.deepEqual([taken.code, taken.context.host_port], ["hv.conflict", 28080]);
  assert.deepEqual((await lab.call("forward_list", { vm: "db" })).forwards, []);
  const loopback = { vm: "db", guest_port: 80, host_address: "127.0.0.1" };
  assert.equal((await lab.failure("forward_add", loopback)).code, "hv.unsupported");

  await lab.call("vm_stop", { vm: "web", mode: "off" });
  assert.ok((await forwardsOf(host)).every(({ open, lasting }) => !open && lasting));
  await lab.call("vm_configure", { vm: "web", notes: "mine" });
  assert.equal((await forwardsOf(host)).length, 2, "the user's notes leave them alone");
  await lab.checkpoint("web", "both", { memory_state: false });
  const removed = await lab.call("forward_remove", { vm: "web", guest_port: 22 });
  assert.equal(z.array(Forward).parse(removed.removed)[0]?.lasting, false);
  assert.equal((await lab.failure("forward_remove", { vm: "web", guest_port: 22 })).code, "hv.not_found");
  assert.deepEqual((await forwardsOf(host)).map(({ guest_port }) => guest_port), [80]);
  await lab.restore("web", "both");
  assert.deepEqual(
    (await forwardsOf(host)).map(({ guest_port }) => guest_port),
    [80],
    "the host's ports stay",
  );
  const { confirm } = await lab.plan("vm_delete", { vm: "web" });
  await lab.call("vm_delete", { vm: "web" }, { confirm });
  const freed = { vm: "db", guest_port: 80, host_port: "28080" };
  assert.equal(Forward.parse(await lab.call("forward_add", freed)).open, true, "its ports went with it");
}, {});

faultTest("a guest without an address or without NAT gets no forward", async (host) => {
  const { lab } = host;
  await lab.call("vm_create", { name: "web", ...SMALL, switch: "default" });
  const early = await lab.failure("forward_add", { vm: "web", guest_port: 22 });
  assert.equal(early.code, "hv.guest_not_ready");
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  const outside = await lab.failure("forward_add", { vm: "web", guest_port: 22 });
  assert.deepEqual([outside.code, outside.context.found], ["hv.conflict", "none"]);
  const { notes } = await lab.call("vm_get", { vm: "web" });
  assert.ok(!String(notes ?? "").includes("forwards"));
});

faultTest("without an administrator's rights no half of a NAT network stays", async ({ lab, world }) => {
  await world.setFaults({ permission: "hyperv_administrator", elevated: false });
  const refused = await lab.failure("switch_create", { name: "nat", type: "internal", nat: "10.9.0.0/24" });
  assert.equal(refused.code, "hv.permission");
  const { switches } = await lab.call("switch_list");
  assert.ok(z.array(Switch).parse(switches).every(({ name }) => name !== "nat"));
  assert.equal(
    (await lab.failure("switch_create", { name: "n", type: "private", nat: "10.9.0.0/24" })).code,
    "hv.usage",
  );
  assert.equal(
    (await lab.failure("switch_create", { name: "n", type: "internal", nat: "10.9.0.1/24" })).code,
    "hv.usage",
  );
});

faultTest(
  "PowerShell itself refuses an external switch, and others' switches stay",
  async ({ lab, world }) => {
    await using hyperv = open(world.host);
    const scope = { signal: AbortSignal.timeout(300_000) };
    for (const type of ["external", "External", "internal; whatever"]) {
      const args = { name: "ext", type, notes: "" };
      await assert.rejects(hyperv.ask(z.unknown(), "make_switch", args, scope), { code: "hv.policy_denied" });
    }
    await hyperv.ask(
      z.unknown(),
      "make_switch",
      { name: "theirs", type: "private", notes: "somebody's" },
      scope,
    );
    const found = z.array(Switch).parse((await lab.call("switch_list")).switches).find(({ name }) =>
      name === "theirs"
    );
    assert.equal(found?.managed, false);
    assert.equal(
      (await lab.failure("plan", { tool: "switch_delete", args: { name: "theirs" } })).code,
      "hv.policy_denied",
    );
    await assert.rejects(hyperv.ask(z.unknown(), "remove_switch", { id: found?.id ?? "" }, scope), {
      code: "hv.policy_denied",
    });
  },
);

faultTest("a network card is in a VLAN until it is taken out", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const nic = Nic.parse(await lab.call("nic_add", { vm: "web", vlan: 42 }));
  assert.equal(nic.vlan, 42);
  const changed = Nic.parse(await lab.call("nic_set", { vm: "web", nic: nic.id, vlan: 7 }));
  assert.deepEqual([changed.vlan, changed.switch], [7, nic.switch]);
  assert.equal(Nic.parse(await lab.call("nic_set", { vm: "web", nic: nic.id, vlan: 0 })).vlan, undefined);
  const twins = await lab.failure("nic_set", { vm: "web", nic: nic.name, vlan: 7 });
  assert.equal(twins.code, "hv.ambiguous");
});

faultTest("serial ports are pipes, and a TPM comes and goes while the VM is off", async (host) => {
  const { lab } = host;
  await lab.call("vm_create", { name: "web", ...SMALL });
  const pipe = "\\\\.\\pipe\\web's line";
  const port = Device.parse(await lab.call("serial_set", { vm: "web", port: 2, path: pipe, debugger: true }));
  assert.deepEqual([port.id, port.holds], ["COM 2", pipe]);
  assert.match(port.model, /debugger/);
  const off = Device.parse(
    await lab.call("serial_set", { vm: "web", port: 2, detach: true, debugger: false }),
  );
  assert.deepEqual([off.holds, off.model], [null, "COM 2"]);
  assert.equal((await lab.failure("serial_set", { vm: "web", port: 1, path: "/tmp/web" })).code, "hv.usage");
  assert.equal((await lab.failure("serial_set", { vm: "web", port: 1 })).code, "hv.usage");

  assert.deepEqual(await devicesOf(host, "tpm"), []);
  assert.equal(Device.parse(await lab.call("tpm_set", { vm: "web", presence: "on" })).now, true);
  assert.equal((await devicesOf(host, "tpm")).length, 1);
  await lab.call("vm_start", { vm: "web" });
  assert.equal((await lab.failure("tpm_set", { vm: "web", presence: "off" })).code, "hv.conflict");
  await lab.call("vm_stop", { vm: "web", mode: "off" });
  assert.equal(Device.parse(await lab.call("tpm_set", { vm: "web", presence: "off" })).now, false);
});

faultTest("a part of a graphics card is given, changed and taken away", async (host) => {
  const { lab } = host;
  await lab.call("vm_create", { name: "web", ...SMALL });
  const given = Device.parse(
    await lab.call("gpu_set", { vm: "web", presence: "on", memory_min_mb: 64, memory_max_mb: 512 }),
  );
  assert.deepEqual([given.kind, given.now], ["gpu", true]);
  assert.match(given.model, /64 to 512 MiB/);
  const changed = Device.parse(await lab.call("gpu_set", { vm: "web", presence: "on", memory_max_mb: 256 }));
  assert.match(changed.model, /64 to 256 MiB/);
  assert.equal((await devicesOf(host, "gpu")).length, 1);
  await lab.call("vm_start", { vm: "web" });
  assert.equal((await lab.failure("gpu_set", { vm: "web", presence: "off" })).code, "hv.conflict");
  await lab.call("vm_stop", { vm: "web", mode: "off" });
  assert.equal(Device.parse(await lab.call("gpu_set", { vm: "web", presence: "off" })).now, false);
  const upside = { vm: "web", presence: "on", memory_min_mb: 2, memory_max_mb: 1 };
  assert.equal((await lab.failure("gpu_set", upside)).code, "hv.usage");
}, { host: { PartitionableGpus: [{ Name: "\\\\?\\PCI#VEN_10DE#GPUPARAV" }] } });

faultTest("a host without a card to divide says so", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  const none = await lab.failure("gpu_set", { vm: "web", presence: "on" });
  assert.equal(none.code, "hv.unsupported");
});

faultTest("Windows Server 2019 lists devices and divides no card", async (host) => {
  await host.lab.call("vm_create", { name: "web", ...SMALL });
  assert.deepEqual(await devicesOf(host, "gpu"), []);
  const old = await host.lab.failure("gpu_set", { vm: "web", presence: "on" });
  assert.deepEqual([old.code, old.context.cmdlet], ["hv.unsupported", "Add-VMGpuPartitionAdapter"]);
}, { host: { Generation: 2019 } });

endSharedHost();

function open(host: HyperVLab["world"]["host"]): HyperV & AsyncDisposable {
  const hyperv = new HyperV(host);
  return Object.assign(hyperv, { [Symbol.asyncDispose]: () => hyperv.close() });
}
