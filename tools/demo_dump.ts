/** Writes a crash dump for the demo: a header as Windows leaves it, and no memory behind it. */

import { kernelHeader64 } from "../tests/support/dump_writer.ts";

const KERNEL_DUMP = 2;

if (import.meta.main) {
  const [file] = Deno.args;
  if (file === undefined) throw new Error("usage: demo_dump.ts FILE");
  await Deno.writeFile(file, kernelHeader64(KERNEL_DUMP).bytes);
}
