/** A kernel of the user's own, as several tools take it: four flat fields. */

import type { KernelSpec } from "../../drivers/driver.ts";

/** The fields as they were given. */
export interface KernelWish {
  kernel?: string | undefined;
  initrd?: string | undefined;
  append?: string | undefined;
  modules?: string | undefined;
}

/** The part of a machine's specification that follows; empty when nothing was given. */
export function readKernelWish({ kernel, initrd, append, modules }: KernelWish): { kernel?: KernelSpec } {
  const spec: KernelSpec = {
    ...(kernel === undefined ? {} : { kernel }),
    ...(initrd === undefined ? {} : { initrd }),
    ...(append === undefined ? {} : { append }),
    ...(modules === undefined ? {} : { modules }),
  };
  return Object.keys(spec).length === 0 ? {} : { kernel: spec };
}
