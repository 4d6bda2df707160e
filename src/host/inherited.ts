/** Variables that this process was started with. */

import { HvError } from "../base/errors.ts";
import type { Host } from "./host.ts";

/**
 * The value of any variable, also of one that our permissions hide because users choose its name: the kernel shows what
 * we were started with through `cat`. `undefined` when it is not set. Throws `hv.permission` where that cannot be had.
 */
export async function readInherited(
  { environment, machine, processes, os }: Pick<Host, "environment" | "machine" | "processes" | "os">,
  name: string,
): Promise<string | undefined> {
  try {
    return environment.get(name);
  } catch (error) {
    if (os !== "linux" || !(error instanceof HvError) || error.code !== "hv.permission") throw error;
    const { code, stdout } = await processes.run("cat", [`/proc/${machine.processId()}/environ`]);
    if (code !== 0) throw error;
    const words = new TextDecoder().decode(stdout).split("\0");
    return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  }
}
