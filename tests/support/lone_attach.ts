/** A process whose terminal a program has. Arguments: the program and its own. Prints what is answered. */

import { openDenoHost } from "../../src/host/deno_host.ts";

if (import.meta.main) {
  const [program = "", ...args] = Deno.args;
  const { signal } = new AbortController();
  console.log(JSON.stringify(await openDenoHost().processes.attach(program, args, { signal })));
}
