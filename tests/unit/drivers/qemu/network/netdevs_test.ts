import assert from "node:assert/strict";
import fc from "fast-check";
import { linkNetdevs, nicArguments, nicDevice } from "../../../../../src/drivers/qemu/network/netdevs.ts";
import { linkOf } from "../../../../../src/drivers/qemu/network/segments.ts";

Deno.test("the card that every VM has hangs on the host's network directly", () => {
  assert.deepEqual(nicArguments({ number: 0, link: { kind: "user" } }), [
    ...["-netdev", "user,id=net-0"],
    ...["-device", "virtio-net-pci,id=nic-0,netdev=net-0,romfile="],
  ]);
});

Deno.test("a card of a switch hangs on a hub whose other end stays on the loopback interface", () => {
  const link = { kind: "segment", group: "239.1.2.3", port: 12345 } as const;
  assert.deepEqual(nicArguments({ number: 2, mac: "52:54:00:00:00:01", slot: "spare-3", link }), [
    ...["-netdev", "hubport,id=net-2,hubid=2"],
    ...[
      "-device",
      "virtio-net-pci,id=nic-2,netdev=net-2,mac=52:54:00:00:00:01,bus=spare-3,addr=0,romfile=",
    ],
    ...["-netdev", "socket,id=link-2,mcast=239.1.2.3:12345,localaddr=127.0.0.1"],
    ...["-netdev", "hubport,id=plug-2,hubid=2,netdev=link-2"],
  ]);
});

Deno.test("a card without a switch has a hub with nothing at its other end", () => {
  assert.deepEqual(nicArguments({ number: 0, mac: "52:54:00:00:00:01" }), [
    ...["-netdev", "hubport,id=net-0,hubid=0"],
    ...["-device", "virtio-net-pci,id=nic-0,netdev=net-0,mac=52:54:00:00:00:01,romfile="],
  ]);
});

Deno.test("what a running QEMU is told is what the command line says", () => {
  const plan = { number: 1, mac: "52:54:00:00:00:01", slot: "spare-2", link: { kind: "user" } } as const;
  assert.deepEqual(nicDevice(plan), {
    driver: "virtio-net-pci",
    id: "nic-1",
    netdev: "net-1",
    mac: "52:54:00:00:00:01",
    bus: "spare-2",
    addr: "0",
    romfile: "",
  });
  assert.deepEqual(linkNetdevs(1, plan.link), [
    { type: "user", id: "link-1" },
    { type: "hubport", id: "plug-1", hubid: 1, netdev: "link-1" },
  ]);
});

Deno.test("each switch has a group of its own in the block for such groups, always the same one", () => {
  assert.deepEqual(linkOf("default"), { kind: "user" });
  fc.assert(fc.property(fc.uuid(), (id) => {
    const link = linkOf(id);
    assert.deepEqual(link, linkOf(id));
    assert.ok(link.kind === "segment");
    assert.match(link.group, /^239(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/);
    assert.ok(link.port >= 10_000 && link.port < 30_000);
  }));
  assert.notDeepEqual(
    linkOf("00000001-0000-4000-8000-000000000000"),
    linkOf("00000002-0000-4000-8000-000000000000"),
  );
});
