import assert from "node:assert/strict";
import {
  chooseHostPort,
  refuseForeignAddress,
  refuseTakenPlace,
} from "../../../../../src/drivers/qemu/network/host_ports.ts";
import { HvError } from "../../../../../src/base/errors.ts";
import type { Host } from "../../../../../src/host/host.ts";
import { failureOf } from "../../../../support/failures.ts";
import { withQemu } from "../../../../support/qemu_context.ts";

/** A host on which only these places can be bound. */
function hostWith(host: Host, isPortFree: (address: string, port: number) => boolean): Host {
  return { ...host, sockets: { ...host.sockets, isPortFree } };
}

const OTHER = { id: "vm-1", name: "db" };

Deno.test("a chosen port is free, not reserved, and below the system's own", async () => {
  await withQemu(({ host }) => {
    const only = hostWith(host, (_, port) => port === 20_007 || port === 20_008);
    const reserved = [{ host_address: "127.0.0.1", host_port: 20_007 }];
    assert.equal(chooseHostPort(only, "127.0.0.1", reserved), 20_008);
    assert.throws(() => chooseHostPort(only, "127.0.0.1", reserved, new Set([20_008])), {
      code: "hv.unavailable",
    });
    return Promise.resolve();
  });
});

Deno.test("a port that something has on the IPv6 loopback alone is taken; a host without IPv6 has none", async () => {
  await withQemu(async ({ host }) => {
    const place = { host_address: "127.0.0.1", host_port: 8080 };
    const six = hostWith(host, (address) => address !== "::1");
    const listener = 'LISTEN 0 128 [::1]:8080 [::]:* users:(("node",pid=77,fd=18))\n';
    host.processes.expect("ss", ["-Hltnp", "sport", "=", ":8080"], { stdout: listener });
    const named = await failureOf("hv.conflict", () => refuseTakenPlace(six, place, []));
    assert.deepEqual([named.context.program, named.context.pid], ["node", 77]);
    host.processes.expect("ss", ["-Hltnp", "sport", "=", ":8080"], { stdout: "" });
    const unnamed = await failureOf("hv.conflict", () => refuseTakenPlace(six, place, []));
    assert.match(unnamed.message, /another program/);
    const without = hostWith(host, (address) => {
      if (address === "::1") throw new HvError("hv.io", "no such address");
      return true;
    });
    await refuseTakenPlace(without, place, []);
  });
});

Deno.test("an address and all addresses overlap, two addresses do not", async () => {
  await withQemu(async ({ host }) => {
    const free = hostWith(host, () => true);
    const has = (host_address: string) => [{ ...OTHER, host_address, host_port: 8080 }];
    const want = (host_address: string) => ({ host_address, host_port: 8080 });
    for (
      const [one, other] of [["127.0.0.1", "0.0.0.0"], ["0.0.0.0", "127.0.0.1"], ["127.0.0.1", "127.0.0.1"]]
    ) {
      const refused = await failureOf(
        "hv.conflict",
        () => refuseTakenPlace(free, want(one ?? ""), has(other ?? "")),
      );
      assert.deepEqual([refused.context.vm, refused.context.found], ["vm-1", "taken"]);
    }
    await refuseTakenPlace(free, want("127.0.0.1"), has("127.0.0.2"));
    await refuseTakenPlace(free, { host_address: "127.0.0.1", host_port: 8081 }, has("0.0.0.0"));
  });
});

Deno.test("an address that is not the host's is refused", async () => {
  await withQemu(({ host }) => {
    const deaf = hostWith(host, () => {
      throw new HvError("hv.io", "cannot assign");
    });
    assert.throws(() => refuseForeignAddress(deaf, "192.0.2.9"), { code: "hv.usage" });
    return Promise.resolve();
  });
});
