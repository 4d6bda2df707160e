/** How many clones of an image somebody wants to have ready: one file for each image, beside its templates. */

import * as z from "zod/mini";
import { parseJson } from "../../../base/json.ts";
import { joinPath } from "../../../base/paths.ts";
import type { SandboxSpec } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { isPlain } from "./find.ts";

/** The most clones that a pool keeps: each takes some 40 MiB and no processor time. */
export const POOL_LIMIT = 16;
const WISH_ENDING = ".pool.json";

const PoolWish = z.object({
  image: z.string(),
  memory_mb: z.int(),
  cpus: z.int(),
  size: z.int().check(z.minimum(0), z.maximum(POOL_LIMIT)),
});
/** How many clones of an image and size shall be ready. */
export type PoolWish = z.infer<typeof PoolWish>;

/** Writes down how many clones of an image shall be ready, in one size of machine for each image. */
export async function wishForPool({ host, state }: QemuContext, wish: PoolWish): Promise<void> {
  await host.files.makeFolder(state.templates);
  await host.files.writeAtomically(
    joinPath(state.templates, wish.image + WISH_ENDING),
    JSON.stringify(wish) + "\n",
  );
}

/** Takes the wish back; clones that are ready stay until the pool is drained. */
export async function unwishPool({ host, state }: QemuContext, image: string): Promise<void> {
  await host.files.remove(joinPath(state.templates, image + WISH_ENDING));
}

/** All wishes; one that cannot be read is left out, since it only makes starts faster. */
export async function readPoolWishes({ host, state }: QemuContext): Promise<PoolWish[]> {
  if (await host.files.stat(state.templates) === undefined) return [];
  const wishes: PoolWish[] = [];
  for (const { name } of await host.files.list(state.templates)) {
    if (!name.endsWith(WISH_ENDING)) continue;
    try {
      const text = await host.files.readText(joinPath(state.templates, name));
      wishes.push(PoolWish.parse(parseJson(text)));
    } catch {
      continue;
    }
  }
  return wishes;
}

/** Whether somebody wished for a pool that could serve a sandbox. Costs one look at a path. */
export async function hasPool({ host, state }: QemuContext, spec: SandboxSpec): Promise<boolean> {
  if (!isPlain(spec)) return false;
  return await host.files.stat(joinPath(state.templates, spec.image + WISH_ENDING)) !== undefined;
}
