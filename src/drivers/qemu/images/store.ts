/** Images that come from elsewhere, and that go. */

import type { ImageStoreAbilities } from "../../image_store_abilities.ts";
import type { QemuContext } from "../context.ts";

/** The store of images. What it needs is loaded with its first use. */
export function openImageStore(context: QemuContext): ImageStoreAbilities {
  return {
    fetch: async (wish, scope) => await (await import("./fetch.ts")).fetchImage(context, wish, scope),
    losses: async (name) => await (await import("./removal.ts")).lossesOfImage(context, name),
    remove: async (name, scope) => await (await import("./removal.ts")).removeImage(context, name, scope),
  };
}
