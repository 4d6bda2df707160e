/** Having the template of an image and size: the one that fits, or a new one in the place of what cannot be used. */

import type { Image } from "../../../contract/image.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { chooseTemplate, whyDead } from "./choose.ts";
import { type MachineSize, readTemplateKey } from "./fingerprint.ts";
import { excludeUse, takeMakerLock } from "./locks.ts";
import { makeTemplate } from "./make.ts";
import { listTemplates, type Template } from "./record.ts";
import { isHeld, VmsOfTemplates } from "./users.ts";

/** A template and whether this call made it. */
export interface Warmed {
  template: Template;
  made: boolean;
}

/** Of several calls at once one makes the template, and the others wait for it. */
export async function warmImage(
  context: QemuContext,
  image: Image,
  size: MachineSize,
  scope: CallScope,
): Promise<Warmed> {
  const { signal } = scope;
  using _maker = await takeMakerLock(context, image.name, signal);
  const choice = await chooseTemplate(context, image, size, scope);
  if (choice.kind === "fits") return { template: choice.template, made: false };
  const key = await readTemplateKey(context, image, size, { remember: true, signal });
  const template = await makeTemplate(context, image, key, scope);
  await removeDead(context, image, template, scope);
  return { template, made: true };
}

/** Takes away templates that nothing can use again, unless a machine still runs on one; the caller makes others wait. */
async function removeDead(
  context: QemuContext,
  image: Image,
  made: Template,
  { signal }: CallScope,
): Promise<void> {
  using _alone = await excludeUse(context, image.name, signal);
  const vms = new VmsOfTemplates(context);
  const { templates, broken } = await listTemplates(context, image.name);
  for (const { record, folder } of templates) {
    if (folder === made.folder || await whyDead(context, image, record.key) === undefined) continue;
    if (!await isHeld(vms, image.name, record.fingerprint, signal)) await context.host.files.remove(folder);
  }
  for (const { folder, fingerprint } of broken) {
    if (!await isHeld(vms, image.name, fingerprint, signal)) await context.host.files.remove(folder);
  }
}
