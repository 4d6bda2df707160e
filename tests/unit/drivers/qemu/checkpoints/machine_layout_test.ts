import assert from "node:assert/strict";
import * as z from "zod/mini";
import {
  machineAsSaved,
  MachineLayout,
  placedAsKept,
  placesThatDiffer,
} from "../../../../../src/drivers/qemu/checkpoints/machine_layout.ts";
import { machineArguments } from "../../../../../src/drivers/qemu/launch/argv.ts";
import type { MachinePlan } from "../../../../../src/drivers/qemu/launch/machine_plan.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";

const PLAN: MachinePlan = {
  uuid: "0123abcd-4567-4890-abcd-ef0123456789",
  name: "web",
  machine: "pc-q35-7.2",
  accelerator: "tcg",
  memory_mb: 256,
  cpus: 1,
  boot: { kind: "nothing" },
  runtime: new RuntimeFolder("/run/hvlab/0123abcd4567"),
  serialLog: "/state/serial.log",
  confined: true,
  dvd: {},
  serialSocket: "/run/new.sock",
  nics: [{ number: 1, mac: "52:54:00:00:00:01", slot: "spare-3" }],
  disks: [{ key: "aaaaaaaa", node: {} }, { key: "bbbbbbbb", node: {} }],
};

/** A machine that had booted with two disks, got another in a spare port, and has its card still. */
const LAYOUT: MachineLayout = {
  buses: {
    "attached-aaaaaaaa": "spare-0",
    "attached-bbbbbbbb": "disk-port-90000001",
    "nic-0": "pcie.0",
  },
  disk_ports: ["disk-port-90000002", "disk-port-90000001"],
  nics: [{ number: 0, mac: "52:54:00:00:00:00", behind_host: true }],
  second_serial: false,
};

function devicesOf(plan: MachinePlan, pattern: RegExp): string[] {
  return machineArguments(plan).filter((word, index, all) =>
    all[index - 1] === "-device" && pattern.test(word)
  );
}

function busesOfDisks(plan: MachinePlan): string[] {
  return devicesOf(plan, /attached-/).map((word) => JSON.parse(word).bus);
}

Deno.test("a boot gives each attached disk a port of its own", () => {
  assert.deepEqual(busesOfDisks(PLAN), ["disk-port-aaaaaaaa", "disk-port-bbbbbbbb"]);
  assert.deepEqual(devicesOf(PLAN, /^pcie-root-port,id=disk-port/), [
    "pcie-root-port,id=disk-port-aaaaaaaa,chassis=64",
    "pcie-root-port,id=disk-port-bbbbbbbb,chassis=65",
  ]);
});

Deno.test("memory finds attached disks in the ports in which they were, and the ports of others", () => {
  const plan = placedAsKept(PLAN, { devices: [], layout: LAYOUT });
  assert.deepEqual(busesOfDisks(plan), ["spare-0", "disk-port-90000001"]);
  assert.deepEqual(devicesOf(plan, /^pcie-root-port,id=disk-port/), [
    "pcie-root-port,id=disk-port-90000002,chassis=64",
    "pcie-root-port,id=disk-port-90000001,chassis=65",
  ]);
});

Deno.test("a disk that was not there, or in whose port a card is now, has a port of its own", () => {
  const disks = [...PLAN.disks ?? [], { key: "cccccccc", node: {} }];
  const nics = [{ number: 1, slot: "spare-0" }];
  const plan = placedAsKept({ ...PLAN, disks, nics }, { devices: [], layout: LAYOUT });
  assert.deepEqual(busesOfDisks(plan), [
    "disk-port-aaaaaaaa",
    "disk-port-90000001",
    "disk-port-cccccccc",
  ]);
  assert.equal(devicesOf(plan, /^pcie-root-port,id=disk-port/).length, 4);
});

Deno.test("a drive is there when the machine had one, empty where the record has none", () => {
  assert.equal(placedAsKept(PLAN, { devices: ["nic-0:virtio-net-pci"] }).dvd, undefined);
  const kept = { devices: ["disc-drive-0:ide-cd"] };
  assert.deepEqual(placedAsKept({ ...PLAN, dvd: { disc: "/a.iso" } }, kept).dvd, { disc: "/a.iso" });
  const { dvd: _, ...without } = PLAN;
  assert.deepEqual(placedAsKept(without, kept).dvd, {});
});

Deno.test("a second serial port is there when the machine had one, whatever waits for a boot", () => {
  const withPort = { devices: [], layout: { ...LAYOUT, second_serial: true } };
  assert.equal(placedAsKept(PLAN, { devices: [], layout: LAYOUT }).serialSocket, undefined);
  assert.equal(placedAsKept(PLAN, withPort).serialSocket, "/run/new.sock");
  const { serialSocket: _, ...detached } = PLAN;
  assert.equal(placedAsKept(detached, withPort).serialSocket, "/run/hvlab/0123abcd4567/serial-2");
  assert.equal(placedAsKept(PLAN, { devices: [] }).serialSocket, "/run/new.sock");
});

Deno.test("a saved machine has neither cards nor a serial port that wait for a boot", () => {
  const plan = machineAsSaved(PLAN, { devices: [], layout: LAYOUT });
  const first = { number: 0, mac: "52:54:00:00:00:00", link: { kind: "user" } };
  assert.deepEqual([plan.nics, plan.serialSocket], [[first], undefined]);
});

Deno.test("a saved machine has the cards and the serial port that go at the next boot", () => {
  const nics = [{ number: 1, mac: "52:54:00:00:00:01", behind_host: false }, ...LAYOUT.nics];
  const plan = machineAsSaved(PLAN, {
    devices: [],
    layout: { ...LAYOUT, buses: { "nic-1": "spare-3" }, nics, second_serial: true },
  });
  assert.deepEqual(plan.nics?.map(({ number }) => number), [1, 0]);
  assert.deepEqual([plan.nics?.[0], plan.serialSocket], [PLAN.nics?.[0], "/run/new.sock"]);
  const { serialSocket: _, ...detached } = PLAN;
  const other = machineAsSaved(detached, { devices: [], layout: { ...LAYOUT, second_serial: true } });
  assert.equal(other.serialSocket, "/run/hvlab/0123abcd4567/serial-2");
});

Deno.test("a card that the record has in another slot is in the slot in which it was", () => {
  const layout = { ...LAYOUT, buses: { "nic-0": "spare-2" } };
  const plan = machineAsSaved({ ...PLAN, nics: [{ number: 0, link: { kind: "user" } }] }, {
    devices: [],
    layout,
  });
  assert.deepEqual(plan.nics?.map(({ number, slot }) => [number, slot]), [[0, "spare-2"]]);
});

Deno.test("a card that leads elsewhere from the next boot on leads where it did", () => {
  const segment = { kind: "segment", group: "239.0.0.1", port: 4000 } as const;
  for (const [link, isBehind] of [[segment, true], [{ kind: "user" }, false], [undefined, true]] as const) {
    const recorded = { number: 0, slot: "spare-1", ...(link === undefined ? {} : { link }) };
    const kept = { number: 0, mac: "52:54:00:00:00:00", behind_host: isBehind };
    const plan = machineAsSaved({ ...PLAN, nics: [recorded] }, {
      devices: [],
      layout: { ...LAYOUT, buses: { "nic-0": "spare-1" }, nics: [kept] },
    });
    assert.deepEqual(plan.nics, [{
      number: 0,
      mac: kept.mac,
      slot: "spare-1",
      ...(isBehind ? { link: { kind: "user" } } : {}),
    }]);
  }
});

Deno.test("what an older hvlab saved starts as its record says", () => {
  const { dvd: _, ...rest } = PLAN;
  assert.deepEqual(machineAsSaved(PLAN, { devices: [] }), rest);
});

Deno.test("what is plugged in elsewhere differs, and so does a second serial port", () => {
  assert.deepEqual(placesThatDiffer(LAYOUT, LAYOUT), []);
  const now = { ...LAYOUT, buses: { ...LAYOUT.buses, "nic-0": "spare-3" }, second_serial: true };
  assert.deepEqual(placesThatDiffer(LAYOUT, now), [
    "nic-0 was in pcie.0 and is in spare-3",
    "the second serial port is new",
  ]);
});

Deno.test("memory with a network behind the host needs one, and bears one that came later", () => {
  const alone = { ...LAYOUT, nics: LAYOUT.nics.map((nic) => ({ ...nic, behind_host: false })) };
  assert.deepEqual(placesThatDiffer(LAYOUT, alone), ['a network card on the switch "default" is missing']);
  assert.deepEqual(placesThatDiffer(alone, LAYOUT), []);
});

Deno.test("nothing that an export brings along can become another option of QEMU's", () => {
  assert.ok(z.safeParse(MachineLayout, LAYOUT).success);
  for (
    const change of [
      { buses: { "nic-0": "spare-0,romfile=/etc/passwd" } },
      { disk_ports: ["disk-port-aaaaaaaa,id=x"] },
      { nics: [{ number: 0, mac: "52:54:00:00:00:00,netdev=x", behind_host: true }] },
    ]
  ) assert.ok(!z.safeParse(MachineLayout, { ...LAYOUT, ...change }).success, JSON.stringify(change));
});
