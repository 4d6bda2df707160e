/** Templates as the rest of hvlab sees them. */

import type { Template as SeenTemplate } from "../../../contract/image.ts";
import type { PoolChange, TemplateAbilities } from "../../template_abilities.ts";
import type { QemuContext } from "../context.ts";
import { getImage } from "../images/images.ts";
import { filesUnder } from "../removal.ts";
import { dropTemplates } from "./drop.ts";
import { drainPool, fillPool } from "./pool.ts";
import { readPoolWishes, unwishPool, wishForPool } from "./pool_wish.ts";
import { listTemplates, type Template } from "./record.ts";
import { VmsOfTemplates } from "./users.ts";
import { verifyImage } from "./verify.ts";
import { warmImage } from "./warm.ts";

export function templateAbilities(context: QemuContext): TemplateAbilities {
  return {
    async warm(name, size, scope) {
      const { template, made } = await warmImage(context, await getImage(context, name), size, scope);
      return { ...await asSeen(context, template, new VmsOfTemplates(context)), made };
    },
    async list(name) {
      const vms = new VmsOfTemplates(context);
      const { templates } = await listTemplates(context, name);
      return await Promise.all(templates.map((template) => asSeen(context, template, vms)));
    },
    verify: async (name, scope) => await verifyImage(context, await getImage(context, name), scope),
    drop: (name, scope) => dropTemplates(context, name, scope),
    async keepReady(name, size, count, scope) {
      await getImage(context, name);
      if (count === 0) {
        await unwishPool(context, name);
        return { image: name, added: [], removed: await drainPool(context, name, scope) };
      }
      const wish = { image: name, ...size, size: count };
      await wishForPool(context, wish);
      return { image: name, ...await fillPool(context, wish, scope) };
    },
    async tendPools(scope) {
      const changes: PoolChange[] = [];
      for (const wish of await readPoolWishes(context)) {
        changes.push({ image: wish.image, ...await fillPool(context, wish, scope) });
      }
      return changes;
    },
  };
}

async function asSeen(
  context: QemuContext,
  { record, folder }: Template,
  vms: VmsOfTemplates,
): Promise<SeenTemplate> {
  const [files, named] = await Promise.all([
    filesUnder(context, folder),
    vms.named(record.image, record.fingerprint),
  ]);
  return {
    image: record.image,
    fingerprint: record.fingerprint,
    memory_mb: record.key.memory_mb,
    cpus: record.key.cpus,
    created_at: record.created_at,
    folder,
    size_bytes: files.reduce((sum, file) => sum + file.size_bytes, 0),
    vms: named.length,
  };
}
