/** Removing an image's templates, unless something runs on one. */

import { HvError } from "../../../base/errors.ts";
import type { Removed } from "../../../contract/vm.ts";
import type { CallScope } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { filesUnder } from "../removal.ts";
import { excludeUse, takeMakerLock } from "./locks.ts";
import { listTemplates, templatesFolder } from "./record.ts";
import { VmsOfTemplates } from "./users.ts";

/**
 * Removes all templates of an image, also of one that is gone itself. Throws `hv.conflict` with the VMs that need one
 * of them, and removes none then.
 */
export async function dropTemplates(
  context: QemuContext,
  image: string,
  { signal, progress }: CallScope,
): Promise<Removed[]> {
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
  await refuseUsed(context, image, all, signal);
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

async function refuseUsed(
  context: QemuContext,
  image: string,
  templates: readonly { fingerprint: string; folder: string }[],
  signal: AbortSignal,
): Promise<void> {
  const vms = new VmsOfTemplates(context);
  const users: { vm: string; name: string }[] = [];
  const pids = new Set<number>();
  for (const { fingerprint, folder } of templates) {
    for (const record of await vms.named(image, fingerprint)) {
      if (await vms.needs(record, signal)) users.push({ vm: record.id, name: record.name });
    }
    for (const pid of await vms.processesIn(folder)) pids.add(pid);
  }
  if (users.length === 0 && pids.size === 0) return;
  const who = users.length > 0
    ? users.map(({ name }) => `"${name}"`).join(", ")
    : `the process ${[...pids].join(", ")}`;
  throw new HvError("hv.conflict", `Cannot drop the templates of "${image}": ${who} needs one`, {
    hint: "Remove those sandboxes first: hvlab sandbox destroy NAME",
    context: { image, wanted: "unused", found: "in use", vms: users, pids: [...pids] },
  });
}
