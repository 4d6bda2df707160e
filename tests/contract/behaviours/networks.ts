import assert from "node:assert/strict";
import * as z from "zod/mini";
import { Device } from "../../../src/contract/device.ts";
import { Nic, Switch } from "../../../src/contract/network.ts";
import { abilityOf } from "../../../src/flows/abilities.ts";
import { behaviour } from "../behaviour.ts";
import type { Lab } from "../lab.ts";

async function nicsOf(lab: Lab, vm: string): Promise<Nic[]> {
  return z.array(Nic).parse((await lab.call("nic_list", { vm })).nics);
}

async function switchesOf(lab: Lab): Promise<Switch[]> {
  return z.array(Switch).parse((await lab.call("switch_list")).switches);
}

behaviour("no switch is ever external", { needs: ["switches"] }, async ({ lab }) => {
  const before = await switchesOf(lab);
  const refused = await lab.failure("switch_create", { name: "ext", type: "external" });
  assert.equal(refused.code, "hv.policy_denied");
  const scope = { signal: AbortSignal.timeout(300_000), progress: () => {} };
  const driver = abilityOf(await lab.session.driver(), "switches");
  await assert.rejects(driver.create({ name: "ext", type: "external" }, scope), { code: "hv.policy_denied" });
  assert.deepEqual(await switchesOf(lab), before);
});

behaviour(
  "a switch stays as long as a card is on it",
  { needs: ["switches", "nics"] },
  async ({ lab }) => {
    const { id } = await lab.vm("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
    const lan = Switch.parse(await lab.call("switch_create", { name: "a, 'lan'", type: "private" }));
    assert.deepEqual([lan.managed, lan.builtin, lan.host, lan.vms], [true, false, false, []]);
    const taken = await lab.failure("switch_create", { name: "a, 'lan'", type: "internal" });
    assert.equal(taken.code, "hv.conflict");

    const nic = Nic.parse(
      await lab.call("nic_add", { vm: "web", switch: "a, 'lan'", mac: "52-54-00-00-0A-0B" }),
    );
    assert.deepEqual([nic.switch, nic.mac, nic.vm, nic.next_start], [
      "a, 'lan'",
      "52:54:00:00:0a:0b",
      id,
      true,
    ]);
    assert.deepEqual((await switchesOf(lab)).find((each) => each.id === lan.id)?.vms, [id]);
    const { confirm } = await lab.plan("switch_delete", { name: lan.id });
    const used = await lab.failure("switch_delete", { name: lan.id }, { confirm });
    assert.deepEqual([used.code, used.context.vms], ["hv.conflict", [id]]);

    const loose = Nic.parse(await lab.call("nic_set", { vm: "web", nic: nic.id, disconnect: true }));
    assert.deepEqual([loose.id, loose.switch], [nic.id, null]);
    const builtin = (await switchesOf(lab)).find((each) => each.builtin);
    const moved = Nic.parse(await lab.call("nic_set", { vm: "web", nic: nic.id, switch: "default" }));
    assert.equal(moved.switch, builtin?.name);
    assert.equal((await lab.call("nic_remove", { vm: "web", nic: nic.id })).removed, true);
    assert.ok((await nicsOf(lab, "web")).every((each) => each.id !== nic.id));

    const plan = await lab.plan("switch_delete", { name: "a, 'lan'" });
    const deleted = await lab.call("switch_delete", { name: "a, 'lan'" }, { confirm: plan.confirm });
    assert.deepEqual([deleted.id, deleted.removed], [lan.id, true]);
    assert.equal(
      (await lab.failure("plan", { tool: "switch_delete", args: { name: "default" } })).code,
      "hv.policy_denied",
    );
  },
);

behaviour("what is not there is not found", { needs: ["switches", "nics"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  const wrong: [string, Record<string, string>][] = [
    ["nic_add", { vm: "web", switch: "*" }],
    ["nic_set", { vm: "web", nic: "*", switch: "default" }],
    ["nic_remove", { vm: "web", nic: "nobody" }],
    ["nic_list", { vm: "nobody" }],
  ];
  for (const [tool, args] of wrong) assert.equal((await lab.failure(tool, args)).code, "hv.not_found", tool);
  const [first] = await nicsOf(lab, "web");
  assert.equal((await lab.failure("nic_set", { vm: "web", nic: first?.id ?? "" })).code, "hv.usage");
  const both = { vm: "web", nic: first?.id ?? "", switch: "default", disconnect: true };
  assert.equal((await lab.failure("nic_set", both)).code, "hv.usage");
});

behaviour("a running VM gets a network card at once", { needs: ["switches", "nics"] }, async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  await lab.call("vm_start", { vm: "web" });
  const nic = Nic.parse(await lab.call("nic_add", { vm: "web" }));
  assert.deepEqual([nic.now, nic.next_start], [true, true]);
  assert.equal((await nicsOf(lab, "web")).length, 2);
});

behaviour("discs come and go, while the VM runs too", { needs: ["devices"] }, async ({ lab }) => {
  const first = `${lab.root}/one, two.iso`;
  const second = `${lab.root}/json:{}.iso`;
  for (const path of [first, second]) await Deno.writeFile(path, new Uint8Array(64 * 1024));
  const { id } = await lab.vm("vm_create", { name: "web", ...lab.source, memory_mb: 256 });
  const put = Device.parse(await lab.call("dvd_set", { vm: "web", disc: first }));
  assert.deepEqual([put.kind, put.vm, put.holds, put.next_start], ["dvd", id, first, true]);
  await lab.call("vm_start", { vm: "web" });
  const changed = Device.parse(await lab.call("dvd_set", { vm: "web", disc: second, force: true }));
  assert.deepEqual([changed.holds, changed.now, changed.holds_at_next_start], [second, true, undefined]);
  const emptied = Device.parse(await lab.call("dvd_set", { vm: "web", eject: true, force: true }));
  assert.deepEqual([emptied.holds, emptied.now, emptied.next_start], [null, true, true]);
  assert.equal(
    (await lab.failure("dvd_set", { vm: "web", disc: `${lab.root}/none.iso` })).code,
    "hv.not_found",
  );
  assert.equal((await lab.failure("dvd_set", { vm: "web", disc: first, eject: true })).code, "hv.usage");
  const devices = z.array(Device).parse((await lab.call("device_list", { vm: "web" })).devices);
  assert.deepEqual(devices.filter(({ kind }) => kind === "dvd"), [emptied]);
  assert.ok(devices.some(({ kind }) => kind === "serial"));
});
