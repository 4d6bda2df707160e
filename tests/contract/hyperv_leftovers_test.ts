/** What leads to a VM goes with it, whoever removes it and whatever was lost on the way. */

import assert from "node:assert/strict";
import type * as z from "zod/mini";
import { HvError } from "../../src/base/errors.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { writeForwards } from "../../src/drivers/hyperv/network/forward_marks.ts";
import { openForwards } from "../../src/drivers/hyperv/network/forwards.ts";
import type { OperationName } from "../../src/drivers/hyperv/operations.ts";
import type { SidecarScope } from "../../src/drivers/hyperv/sidecar.ts";
import type { Arguments } from "../../src/drivers/hyperv/sidecar/frames.ts";
import { failureOf } from "../support/failures.ts";
import { faultTest, type HyperVLab } from "../support/hyperv_lab.ts";
import { setLease } from "../support/hyperv_lease.ts";
import { type HyperVWorld, runShell } from "../support/hyperv_world.ts";

const SIZE = { memory_mb: 64 };
const ADDRESS = "192.168.77.2";

/** A guest with an address behind NAT, and a host whose answer to a new mapping is lost. */
class LostAnswers extends HyperV implements AsyncDisposable {
  override async ask<T extends z.ZodMiniType>(
    schema: T,
    operation: OperationName,
    args: Arguments,
    scope: SidecarScope,
  ): Promise<z.output<T>> {
    if (operation === "list_adapters") {
      const names = { id: "1", name: "nic", mac: "", switch: null, switch_name: null };
      return schema.parse({ adapters: [{ ...names, vlan: 0, addresses: [ADDRESS] }] });
    }
    const answer = await super.ask(schema, operation, args, scope);
    if (operation === "add_mapping") throw new HvError("hv.outcome_unknown", "The answer is lost");
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function makeNat(world: HyperVWorld): Promise<void> {
  await runShell(world, "New-NetNat nat -InternalIPInterfaceAddressPrefix 192.168.77.0/24 > $null");
}

async function mappedPorts(world: HyperVWorld): Promise<string> {
  return (await runShell(world, "@(Get-NetNatStaticMapping).ExternalPort -join ','")).trim();
}

/** A sandbox whose lease is over, with a port of the host that leads to it and a login that is kept. */
async function makeEnded({ lab, world }: HyperVLab, name: string, port: number): Promise<string> {
  const { id } = await lab.vm("sandbox_create", { image: "win", name, ...SIZE });
  const mapping = `-Protocol TCP -ExternalIPAddress 0.0.0.0 -InternalIPAddress ${ADDRESS} -InternalPort 80`;
  await runShell(world, `Add-NetNatStaticMapping nat ${mapping} -ExternalPort ${port} > $null`);
  const forward = {
    guest_port: 80,
    host_address: "0.0.0.0",
    host_port: port,
    address: ADDRESS,
    auto: false,
  };
  await setLease(world, id, "2026-01-01T00:00:00.000Z", (notes) => writeForwards(notes, [forward]));
  const folder = `${lab.session.state.hypervGuests}/${id}`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/login`, "kept");
  return folder;
}

faultTest("an ended sandbox takes its ports and its login along, swept or cleaned up", async (host) => {
  const { lab, world } = host;
  const disk = `${world.folder}/base.vhdx`;
  await runShell(world, `New-VHD '${disk}' -SizeBytes 64MB -Dynamic > $null`);
  await lab.call("image_import", { name: "win", disk });
  await makeNat(world);
  const driver = await lab.session.driver();
  const scope = { signal: AbortSignal.timeout(300_000), progress: () => {} };

  const swept = await makeEnded(host, "swept", 28_080);
  assert.deepEqual((await driver.sandboxes?.sweep(scope))?.map(({ removed }) => removed), [true]);
  assert.equal(await mappedPorts(world), "");
  await assert.rejects(Deno.stat(swept), Deno.errors.NotFound);

  const cleaned = await makeEnded(host, "cleaned", 28_081);
  for (const orphan of await driver.vms.orphans(scope.signal)) await driver.vms.removeOrphan(orphan, scope);
  assert.equal(await mappedPorts(world), "");
  await assert.rejects(Deno.stat(cleaned), Deno.errors.NotFound);
  assert.deepEqual(await lab.names(), []);
}, {});

faultTest(
  "a port whose mapping may have been made stays noted, and goes with the VM",
  async ({ lab, world }) => {
    await makeNat(world);
    const { id } = await lab.vm("vm_create", { name: "web", disk_size_mb: 64, ...SIZE });
    const scope = { signal: AbortSignal.timeout(300_000), progress: () => {} };
    await using hyperv = new LostAnswers(world.host);
    const forwards = openForwards(hyperv, lab.session.state);
    await failureOf(
      "hv.outcome_unknown",
      () => forwards.add(id, { guest_port: 80, host_port: 28_080 }, scope),
    );
    assert.equal(await mappedPorts(world), "28080");
    const [noted] = await forwards.list(id, scope.signal);
    assert.deepEqual([noted?.host_port, noted?.open], [28_080, true]);
    await lab.call("vm_delete", { vm: "web" }, { confirm: "web" });
    assert.equal(await mappedPorts(world), "");
  },
  {},
);
