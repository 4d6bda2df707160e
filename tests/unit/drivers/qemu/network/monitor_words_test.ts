import assert from "node:assert/strict";
import { uuidOf } from "../../../../../src/base/ids.ts";
import {
  closeHostForward,
  openHostForward,
  readHostForwards,
} from "../../../../../src/drivers/qemu/network/host_forwards.ts";
import { freeSlots, readLiveNics } from "../../../../../src/drivers/qemu/network/live_nics.ts";
import { askMonitor } from "../../../../../src/drivers/qemu/monitor/monitors.ts";
import type { QmpSession } from "../../../../../src/drivers/qemu/monitor/qmp.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { VM_ID, withQemu } from "../../../../support/qemu_context.ts";
import { listenAsMonitor } from "../../../../support/scripted_monitor.ts";

/** Asks a monitor that answers each line of its human sister with these words. */
async function asking<T extends object>(
  answers: Record<string, unknown>,
  work: (session: QmpSession) => Promise<T>,
): Promise<T> {
  const found: T[] = [];
  await withQemu(async ({ host, addVm }) => {
    const record = await addVm();
    const runtime = new RuntimeFolder(record.runtime);
    await Deno.mkdir(runtime.path, { recursive: true });
    await listenAsMonitor(host, runtime.monitor("calls"), { uuid: uuidOf(VM_ID), answers });
    const answer = await askMonitor(host, VM_ID, runtime, work);
    if (answer !== undefined) found.push(answer);
  });
  const [answer] = found;
  assert.ok(answer !== undefined);
  return answer;
}

const FORWARD = { host_address: "127.0.0.1", host_port: 8080, guest_port: 80 };

Deno.test("what is open is read from QEMU's table", async () => {
  const text =
    "Hub -1 (net-0):\r\n  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\r\n" +
    "  TCP[ESTABLISHED]   14       10.0.2.15 41000       192.0.2.1   443     0     0\r\n" +
    "  TCP[HOST_FORWARD]  12       127.0.0.1 35117       10.0.2.15    22     0     0\r\n" +
    "  TCP[HOST_FORWARD]  11               *    80       10.0.2.15  8080     0     0\r\n" +
    "  UDP[22 sec]        13       10.0.2.15   100       192.0.2.1    53     0     0\r\n";
  assert.deepEqual(await asking({ "human-monitor-command": text }, readHostForwards), [
    { host_address: "127.0.0.1", host_port: 35117, guest_port: 22 },
    { host_address: "0.0.0.0", host_port: 80, guest_port: 8080 },
  ]);
});

Deno.test("QEMU's words tell opened, taken and no network apart", async () => {
  const lines: unknown[] = [];
  const saying = (words: string) => ({
    "human-monitor-command": (args: unknown) => {
      lines.push(args);
      return words;
    },
  });
  const open = (words: string) =>
    asking(saying(words), async (session) => ({ was: await openHostForward(session, FORWARD) }));
  const close = (words: string) =>
    asking(saying(words), async (session) => ({ was: await closeHostForward(session, FORWARD) }));
  assert.deepEqual(await open(""), { was: true });
  assert.deepEqual(await open("Could not set up host forwarding rule 'tcp:127.0.0.1:8080-:80'\r\n"), {
    was: false,
  });
  assert.deepEqual(await close("host forwarding rule for tcp:127.0.0.1:8080 removed\r\n"), { was: true });
  assert.deepEqual(await close("host forwarding rule for tcp:127.0.0.1:8080 not found\r\n"), { was: false });
  assert.deepEqual(lines.slice(0, 3), [
    { "command-line": "hostfwd_add tcp:127.0.0.1:8080-:80" },
    { "command-line": "hostfwd_add tcp:127.0.0.1:8080-:80" },
    { "command-line": "hostfwd_remove tcp:127.0.0.1:8080" },
  ]);
  await failureOf("hv.conflict", () => open("user mode network stack not in use\r\n"));
  const odd = await failureOf("hv.job_failed", () => open("something else\r\n"));
  assert.equal(odd.context.qemu, "something else");
});

Deno.test("cards are seen with what they are plugged into", async () => {
  const text = "hub 1\r\n \\ plug-1: link-1: index=0,type=socket,socket: mcast=239.1.2.3:34567\r\n" +
    " \\ net-1: nic-1: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:aa:bb:cc\r\n" +
    "hub 2\r\n \\ net-2: nic-2: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:aa:bb:cd\r\n" +
    "nic-0: index=0,type=nic,model=virtio-net-pci,macaddr=52:54:00:12:34:56\r\n" +
    " \\ net-0: index=0,type=user,net=10.0.2.0,restrict=off\r\n";
  const link = { kind: "segment", group: "239.1.2.3", port: 34567 };
  assert.deepEqual(await asking({ "human-monitor-command": text }, readLiveNics), [
    { number: 1, mac: "52:54:00:aa:bb:cc", link, isMovable: true },
    { number: 2, mac: "52:54:00:aa:bb:cd", link: undefined, isMovable: true },
    { number: 0, mac: "52:54:00:12:34:56", link: { kind: "user" }, isMovable: false },
  ]);
});

Deno.test("a root port is free when no device says that it is its bus", async () => {
  const buses: Record<string, string> = {
    "spare-0": "/machine/q35/pcihost/pcie.0",
    "attached-1": "/machine/peripheral/spare-0/spare-0",
  };
  const names = Object.keys(buses);
  const slots = await asking({
    "qom-list": [{ name: "type", type: "string" }, ...names.map((name) => ({ name, type: "child<device>" }))],
    "qom-get": ({ path }: { path: string }) => buses[path.split("/").at(-1) ?? ""],
  }, freeSlots);
  assert.deepEqual(slots, ["spare-1", "spare-2", "spare-3"]);
});
