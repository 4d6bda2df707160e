/** Removing an image's templates, unless something runs on one. */

import { HvError } from "../../../base/errors.ts";
import type { Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { refuseDamagedVms } from "../damaged_vms.ts";
import { filesUnder } from "../removal.ts";
import { excludeUse, takeMakerLock } from "./locks.ts";
import { drainPool } from "./pool.ts";
import { unwishPool } from "./pool_wish.ts";
import { listTemplates, templatesFolder } from "./record.ts";
import { VmsOfTemplates } from "./users.ts";

/**
 * Removes all templates of an image, also of one that is gone itself. Throws `hv.conflict` with the VMs that need one
 * of them, `hv.io` when that cannot be told, and removes none then.
 */
export async function dropTemplates(
  context: QemuContext,
  image: string,
  scope: CallScope,
): Promise<Removed[]> {
  const { signal, progress } = scope;
  const { files } = context.host;
  const root = templatesFolder(context, image);
  if (await files.stat(root) === undefined) return [];
  using _maker = await takeMakerLock(context, image, signal);
  using _alone = await excludeUse(context, image, signal);
  const { templates, broken } = await listTemplates(context, image);
  const all = [
    ...templates.map(({ record, folder }) => ({ fingerprint: record.fingerprint, folder })),
    ...broken,
  ];
  await refuseUsers(context, image, all, signal);
  await unwishPool(context, image);
  await drainPool(context, image, scope);
  await refuseProcesses(context, image, all);
  const removed: Removed[] = [];
  for (const { fingerprint, folder } of all) {
    progress({ message: `Removing the template ${fingerprint}` });
    const paths = (await filesUnder(context, folder)).map(({ path }) => path);
    await files.remove(folder);
    removed.push({ id: fingerprint, name: image, removed: true, files: paths });
  }
  await files.remove(root);
  return removed;
}

interface TemplateFolder {
  fingerprint: string;
  folder: string;
}

/** Clones in a pool are nobody's yet and no reason to stay. */
async function refuseUsers(
  context: QemuContext,
  image: string,
  templates: readonly TemplateFolder[],
  signal: AbortSignal,
): Promise<void> {
  const looks = new VmsOfTemplates(context);
  const vms: { vm: string; name: string }[] = [];
  for (const { fingerprint } of templates) {
    for (const record of await looks.named(image, fingerprint)) {
      if (record.template?.pooled === true || !await looks.needs(record, signal)) continue;
      vms.push({ vm: record.id, name: record.name });
    }
  }
  if (vms.length === 0) {
    return await refuseDamagedVms(context, `drop the templates of "${image}"`, "need one", { image });
  }
  throw new HvError(
    "hv.conflict",
    `Cannot drop the templates of "${image}": ${vms.map(({ name }) => `"${name}"`).join(", ")} needs one`,
    {
      hint: "Remove those sandboxes first: hvlab sandbox destroy NAME",
      context: { image, wanted: "unused", found: "in use", vms },
    },
  );
}

/** Whatever its record says, a process that has a template's file open would break without it. */
async function refuseProcesses(
  context: QemuContext,
  image: string,
  templates: readonly TemplateFolder[],
): Promise<void> {
  const looks = new VmsOfTemplates(context);
  const pids = (await Promise.all(templates.map(({ folder }) => looks.processesIn(folder)))).flat();
  if (pids.length === 0) return;
  throw new HvError(
    "hv.conflict",
    `Cannot drop the templates of "${image}": process ${pids.join(", ")} uses one`,
    {
      hint: "See what hvlab left behind: hvlab vm orphans",
      context: { image, wanted: "unused", found: "in use", pids },
    },
  );
}
