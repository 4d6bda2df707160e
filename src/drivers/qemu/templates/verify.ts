/** A thorough look at an image: every byte of its files and of its templates. */

import { toHvError } from "../../../base/errors.ts";
import type { Image, ImageCheck } from "../../../contract/image.ts";
import type { CallScope } from "../../call_scope.ts";
import type { QemuContext } from "../context.ts";
import { whyDead } from "./choose.ts";
import { differencesOf, fingerprintOf, readTemplateKey } from "./fingerprint.ts";
import { digestFile } from "./make.ts";
import { findChangedFile, listTemplates, type Template, templateFile } from "./record.ts";

/** Digests all files and compares the templates with what this host would make now. Changes nothing. */
export async function verifyImage(
  context: QemuContext,
  image: Image,
  scope: Pick<CallScope, "signal" | "progress">,
): Promise<ImageCheck> {
  const files: ImageCheck["files"] = [];
  for (const { role, path, sha256 } of image.files) {
    scope.progress({ message: `Reading the ${role}` });
    const problem = await problemOf(context, path, sha256, scope.signal);
    files.push({ role, path, sound: problem === undefined, ...(problem === undefined ? {} : { problem }) });
  }
  const { templates, broken } = await listTemplates(context, image.name);
  const checks: ImageCheck["templates"] = [];
  for (const template of templates) {
    const { key, fingerprint } = template.record;
    scope.progress({ message: `Reading the template ${fingerprint}` });
    const reason = await whyUnfit(context, image, template, scope.signal);
    checks.push({
      fingerprint,
      memory_mb: key.memory_mb,
      cpus: key.cpus,
      fits: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  for (const { fingerprint, reason } of broken) checks.push({ fingerprint, fits: false, reason });
  return { image: image.name, sound: files.every(({ sound }) => sound), files, templates: checks };
}

async function whyUnfit(
  context: QemuContext,
  image: Image,
  template: Template,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { key, fingerprint, files } = template.record;
  const dead = await whyDead(context, image, key);
  if (dead !== undefined) return dead;
  const now = await readTemplateKey(context, image, key, { remember: false, signal });
  if (await fingerprintOf(now) !== fingerprint) return differencesOf(key, now).join("; ");
  const changed = await findChangedFile(context, template);
  if (changed !== undefined) return changed;
  for (const { role, sha256 } of files) {
    const problem = await problemOf(context, templateFile(template, role), sha256, signal);
    if (problem !== undefined) return `its file "${role}": ${problem}`;
  }
  return undefined;
}

async function problemOf(
  context: QemuContext,
  path: string,
  sha256: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const found = await digestFile(context, path, signal);
    return found === sha256 ? undefined : `its digest is ${found} and was ${sha256}`;
  } catch (error) {
    signal.throwIfAborted();
    return toHvError(error).message;
  }
}
