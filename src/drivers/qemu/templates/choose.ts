/** Which template a new sandbox starts from, or why from none. */

import { toHvError } from "../../../base/errors.ts";
import type { Image } from "../../../contract/image.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import {
  differencesOf,
  fingerprintOf,
  type MachineSize,
  readTemplateKey,
  type TemplateKey,
} from "./fingerprint.ts";
import { findChangedFile, listTemplates, readTemplate, type Template, templatesFolder } from "./record.ts";

/** A template that fits, or the reason why there is none; no reason where nobody ever made one. */
export type Choice =
  | { kind: "fits"; template: Template }
  | { kind: "stale"; key: TemplateKey; reason: string }
  | { kind: "none"; reason?: string };

/**
 * Looks for the template of an image and size. `stale` means that there was one of this size and that nothing can
 * use it any more, so that making it anew is what its owner wants. Never throws for what it finds.
 */
export async function chooseTemplate(
  context: QemuContext,
  image: Image,
  size: MachineSize,
  scope: Pick<CallScope, "signal">,
): Promise<Choice> {
  const { host } = context;
  if (await host.files.stat(templatesFolder(context, image.name)) === undefined) return { kind: "none" };
  const key = await readTemplateKey(context, image, size, { remember: true, signal: scope.signal });
  const fingerprint = await fingerprintOf(key);
  try {
    const template = await readTemplate(context, image.name, fingerprint);
    if (template !== undefined) {
      const changed = await findChangedFile(context, template);
      return changed === undefined ? { kind: "fits", template } : { kind: "stale", key, reason: changed };
    }
  } catch (error) {
    scope.signal.throwIfAborted();
    return { kind: "stale", key, reason: `its record is damaged: ${toHvError(error).message}` };
  }
  const { templates } = await listTemplates(context, image.name);
  for (const { record } of templates) {
    if (record.key.memory_mb !== size.memory_mb || record.key.cpus !== size.cpus) continue;
    const reason = await whyDead(context, image, record.key);
    if (reason !== undefined) return { kind: "stale", key, reason };
  }
  const [nearest] = templates;
  if (nearest === undefined) return { kind: "none" };
  return { kind: "none", reason: `it does not fit: ${differencesOf(nearest.record.key, key).join("; ")}` };
}

/** Why nothing on this host can use a template of this key again; `undefined` when something may. */
export async function whyDead(
  { host }: QemuContext,
  image: Image,
  key: TemplateKey,
): Promise<string | undefined> {
  const program = await host.files.stat(key.qemu.path, { follow: true });
  if (program?.size_bytes !== key.qemu.size_bytes || program.modified !== key.qemu.modified) {
    return `"${key.qemu.path}" is not the QEMU that made it any more`;
  }
  const isSame = image.files.every(({ role, sha256 }) => key.files[role] === sha256);
  return isSame ? undefined : "the image has been replaced";
}
