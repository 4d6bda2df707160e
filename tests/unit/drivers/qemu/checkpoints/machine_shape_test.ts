import assert from "node:assert/strict";
import {
  differences,
  type MachineShape,
  wouldFitAnew,
} from "../../../../../src/drivers/qemu/checkpoints/machine_shape.ts";
import { readShape } from "../../../../../src/drivers/qemu/checkpoints/read_shape.ts";
import { VmMonitor } from "../../../../../src/drivers/qemu/monitor/vm_monitor.ts";
import { uuidOf } from "../../../../../src/base/ids.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

const NIC = { number: 0, mac: "52:54:00:12:34:56", behind_host: true };
const LAYOUT = { buses: { "nic-0": "pcie.0" }, disk_ports: [], nics: [NIC], second_serial: true };
const SHAPE: MachineShape = {
  machine: "pc-q35-7.2",
  memory_mb: 256,
  cpus: 2,
  accelerator: "tcg",
  memory_parts: ["ram"],
  devices: ["nic-0:virtio-net-pci", "device[0]:VGA"],
  layout: LAYOUT,
};

const INFO_NETWORK = [
  "nic-0: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:12:34:56",
  " \\ net-0: index=0,type=user,net=10.0.2.0,restrict=off",
].join("\r\n");
const PROPERTIES: Record<string, unknown> = {
  type: "pc-q35-7.2-machine",
  parent_bus: "/machine/q35/pcie.0",
  addr: 80,
};

Deno.test("a machine is read off QEMU's answers", () =>
  withQemu(async ({ host, context, addVm }) => {
    const record = await addVm();
    await Deno.mkdir(record.runtime, { recursive: true });
    await listenAsMonitor(host, new RuntimeFolder(record.runtime).monitor("calls"), {
      uuid: uuidOf(VM_ID),
      answers: {
        "qom-get": ({ property }: { property: string }) => PROPERTIES[property],
        "human-monitor-command": INFO_NETWORK,
        "query-chardev": [{ label: "serial-1", filename: "disconnected:unix:/run/a.sock,server=on" }],
        "query-memory-size-summary": { "base-memory": 256 * 1024 * 1024, "plugged-memory": 0 },
        "query-cpus-fast": [{ "cpu-index": 0 }, { "cpu-index": 1 }],
        "query-memdev": [{ id: "ram", size: 1 }],
        "qom-list": ({ path }: { path: string }) =>
          path === "/machine/peripheral"
            ? [{ name: "type", type: "string" }, { name: "nic-0", type: "child<virtio-net-pci>" }]
            : [{ name: "device[0]", type: "child<VGA>" }],
      },
    });
    assert.deepEqual(await readShape(new VmMonitor(context, record)), SHAPE);
  }));

Deno.test("equal machines do not differ, and every difference has a name", () => {
  assert.deepEqual(differences(SHAPE, { ...SHAPE }), []);
  const changes: [Partial<MachineShape>, string[]][] = [
    [{ machine: "pc-q35-8.0" }, ["machine was pc-q35-7.2 and is pc-q35-8.0"]],
    [{ memory_mb: 512 }, ["memory_mb was 256 and is 512"]],
    [{ accelerator: "kvm" }, ["accelerator was tcg and is kvm"]],
    [{ memory_parts: ["pc.ram"] }, ["ram is missing", "pc.ram is new"]],
    [{ devices: ["device[0]:VGA"] }, ["nic-0:virtio-net-pci is missing"]],
    [{ devices: [...SHAPE.devices, "phone:usb-mtp"] }, ["phone:usb-mtp is new"]],
    [{ devices: [...SHAPE.devices].reverse() }, []],
  ];
  for (const [change, expected] of changes) {
    assert.deepEqual(differences(SHAPE, { ...SHAPE, ...change }), expected);
  }
});

Deno.test("only size, type and what a start places can be put right by starting the machine anew", () => {
  assert.ok(wouldFitAnew(SHAPE, { ...SHAPE, machine: "pc-q35-8.0", memory_mb: 1, cpus: 9 }));
  const placed = {
    devices: [...SHAPE.devices, "disk-port-aaaaaaaa:pcie-root-port", "disc-drive-0:ide-cd"],
    layout: { ...LAYOUT, buses: { ...LAYOUT.buses, "attached-aaaaaaaa": "disk-port-aaaaaaaa" } },
  };
  assert.ok(wouldFitAnew(SHAPE, { ...SHAPE, ...placed }));
  assert.ok(wouldFitAnew(SHAPE, { ...SHAPE, layout: { ...LAYOUT, second_serial: false } }));
  const inSpare = { ...LAYOUT, buses: { ...LAYOUT.buses, "attached-aaaaaaaa": "spare-0" } };
  assert.ok(wouldFitAnew({ ...SHAPE, layout: inSpare }, { ...SHAPE, ...placed }));
  for (
    const change of [
      { accelerator: "kvm" },
      { memory_parts: [] },
      { devices: [] },
      { devices: [...SHAPE.devices, "attached-aaaaaaaa:virtio-blk-pci"] },
      { layout: { ...LAYOUT, buses: { "nic-0": "spare-3" } } },
    ]
  ) assert.ok(!wouldFitAnew(SHAPE, { ...SHAPE, ...change }), JSON.stringify(change));
});

Deno.test("nobody knows the ports of disks of memory that an older hvlab kept, and a lost drive stays lost", () => {
  const { layout: _, ...older } = SHAPE;
  const port = { ...SHAPE, devices: [...SHAPE.devices, "disk-port-aaaaaaaa:pcie-root-port"] };
  assert.ok(!wouldFitAnew(older, port));
  assert.ok(!wouldFitAnew({ ...SHAPE, devices: [...SHAPE.devices, "disc-drive-0:ide-cd"] }, SHAPE));
});
