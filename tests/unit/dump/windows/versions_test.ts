import assert from "node:assert/strict";
import { buildNumber, windowsName, windowsVersion } from "../../../../src/dump/windows/versions.ts";

Deno.test("builds give the version of Windows", () => {
  assert.equal(windowsVersion(2600), "5.1.2600");
  assert.equal(windowsVersion(7601), "6.1.7601");
  assert.equal(windowsVersion(9600), "6.3.9600");
  assert.equal(windowsVersion(19045), "10.0.19045");
  assert.equal(windowsVersion(29999), "10.0.29999");
  assert.equal(windowsVersion(9841), "9841");
  assert.equal(windowsVersion(null), null);
  assert.equal(buildNumber(0xF0004A61 | 0), 19041);
});

Deno.test("the product chooses between client and server names", () => {
  assert.equal(windowsName(17763, "server"), "Windows Server 2019");
  assert.equal(windowsName(17763, "domain_controller"), "Windows Server 2019");
  assert.equal(windowsName(17763, "workstation"), "Windows 10 1809");
  assert.equal(windowsName(17763, null), "Windows 10 1809 or Windows Server 2019");
  assert.equal(windowsName(22000, "server"), "Windows 11 21H2");
  assert.equal(windowsName(20348, "workstation"), "Windows Server 2022");
  assert.equal(windowsName(12345, "server"), null);
});
