/** What the table of processes tells. */

import assert from "node:assert/strict";
import { programIn } from "../../../src/host/process_table.ts";

Deno.test("a program that is being started is seen as what it is about to become", () => {
  const cases: [string, string][] = [
    ["qemu-system-x86_64 -uuid 1", "qemu-system-x86_64"],
    ["/usr/bin/nice -n 2 -- qemu-system-x86_64 -uuid 1", "qemu-system-x86_64"],
    [
      "prlimit --data=1 --nofile=2 -- nice -n 2 -- /opt/qemu-system-x86_64 -uuid 1",
      "/opt/qemu-system-x86_64",
    ],
    ["setpriv --pdeathsig KILL -- prlimit --data=1 -- nice -n 2 -- qemu -uuid 1", "qemu"],
    ["nice qemu-system-x86_64", "nice"],
    ["prlimit --pid 7", "prlimit"],
    ["", ""],
  ];
  for (const [args, program] of cases) assert.equal(programIn(args), program, args);
});
