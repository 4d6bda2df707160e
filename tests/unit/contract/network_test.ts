import assert from "node:assert/strict";
import * as z from "zod/mini";
import {
  HostAddress,
  HostPort,
  MacAddress,
  NatPrefix,
  plainMac,
  readHostPort,
} from "../../../src/contract/network.ts";

function accepts(schema: z.ZodMiniType, good: readonly string[], bad: readonly string[]): void {
  for (const text of good) assert.equal(z.safeParse(schema, text).success, true, text);
  for (const text of bad) assert.equal(z.safeParse(schema, text).success, false, text);
}

Deno.test("ports, addresses and networks are taken by their form", () => {
  accepts(HostPort, ["auto", "1", "65535"], ["0", "65536", "080", "-1", "8080 ", "any", ""]);
  assert.deepEqual(["auto", "80", 80].map(readHostPort), ["auto", 80, 80]);
  for (const port of [0, 65536, 1.5, true, null]) assert.equal(z.safeParse(HostPort, port).success, false);
  accepts(HostAddress, ["127.0.0.1", "0.0.0.0"], [
    "localhost",
    "::1",
    "1.2.3",
    "1.2.3.256",
    "1.2.3.4-:22",
    "01.2.3.4",
  ]);
  accepts(NatPrefix, ["192.168.77.0/24", "10.0.0.0/8"], [
    "192.168.77.1/24",
    "10.0.0.0/30",
    "10.0.0.0",
    "10.0.0.0/x",
    "/24",
  ]);
});

Deno.test("a MAC address is one device's own, however it is written", () => {
  accepts(MacAddress, ["52:54:00:12:34:56", "52-54-00-12-34-56", "525400123456"], [
    "53:54:00:12:34:56",
    "52:54:00:12:34",
    "x",
  ]);
  for (const text of ["52-54-00-AA-BB-CC", "525400AABBCC"]) assert.equal(plainMac(text), "52:54:00:aa:bb:cc");
});
