/** Rules that need no dump: what arguments and names mean. */

import assert from "node:assert/strict";
import {
  blamelessReason,
  codeAddressArgument,
  plainCode,
} from "../../../../src/dump/attribution/argument_addresses.ts";
import { isCoreModule } from "../../../../src/dump/attribution/core_modules.ts";

Deno.test("codes of small dumps mean what the plain ones do", () => {
  assert.equal(plainCode(0x1000007E), 0x7E);
  assert.equal(plainCode(0xDEADDEAD), 0xCEADDEAD, "only the mark goes");
  assert.equal(codeAddressArgument(0x1000007E), codeAddressArgument(0x7E));
});

Deno.test("arguments that are addresses in the code to blame, from the public pages", () => {
  const roles: [code: number, argument: number | null][] = [
    [0x0A, 4],
    [0x1E, 2],
    [0x3B, 2],
    [0x50, 3],
    [0x7E, 2],
    [0xC5, 4],
    [0xCE, 3],
    [0xD1, 4],
    [0xD5, 3],
    [0x116, 2],
    [0x1F2, 3],
    [0x9F, null],
    [0xE2, null],
  ];
  for (const [code, argument] of roles) assert.equal(codeAddressArgument(code), argument, code.toString(16));
});

Deno.test("stops that blame nobody say why", () => {
  assert.match(blamelessReason(0x1C8, 7000n) ?? "", /held for 7000 ms/);
  assert.match(blamelessReason(0xDEADDEAD, 0n) ?? "", /on request/);
  assert.match(blamelessReason(0x5454414D, 0n) ?? "", /DumpIt/);
  assert.match(blamelessReason(0x161, 0n) ?? "", /went on running/);
  assert.match(blamelessReason(0x124, 0n) ?? "", /hardware/);
  assert.equal(blamelessReason(0xD1, 0n), null);
});

Deno.test("the system's own images, by name in any case and whatever the kernel is called", () => {
  assert(isCoreModule("kernel", "WDF01000.sys", null));
  assert(isCoreModule("kernel", "ntkrnlmp.exe", null));
  assert(isCoreModule("kernel", "renamed.exe", "renamed.exe"));
  assert(!isCoreModule("kernel", "evil.sys", "ntoskrnl.exe"));
  assert(!isCoreModule("kernel", "ntdll.dll", null));
  assert(isCoreModule("user", "KERNELBASE.dll", null));
  assert(!isCoreModule("user", "storport.sys", null));
  for (
    const name of ["libc.so.6", "libc-2.19.so", "ld-linux-x86-64.so.2", "libsystem_kernel.dylib", "dyld"]
  ) {
    assert(isCoreModule("user", name, null), name);
  }
  for (const name of ["libcrash.so", "crashy", "ldap.dll"]) assert(!isCoreModule("user", name, null), name);
});
