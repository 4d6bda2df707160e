/** Finding the template for a new sandbox, and making it anew when its time has passed. */

import { toHvError } from "../../../base/errors.ts";
import type { Image } from "../../../contract/image.ts";
import type { CallScope } from "../../call_scope.ts";
import type { SandboxSpec } from "../../driver.ts";
import type { QemuContext } from "../context.ts";
import { getImage } from "../images/images.ts";
import { type Choice, chooseTemplate } from "./choose.ts";
import type { MachineSize } from "./fingerprint.ts";
import { shareUse } from "./locks.ts";
import { type Template, templatesFolder } from "./record.ts";
import { warmImage } from "./warm.ts";

/** A template that nobody can remove before this is disposed of. */
export interface FoundTemplate extends Disposable {
  template: Template;
}

/**
 * The template that a sandbox of this image and size starts from. One that no QEMU can use any more is made anew
 * first. Answers `undefined` when there is none, with a warning where its owner would expect one.
 */
export async function findTemplate(
  context: QemuContext,
  spec: SandboxSpec,
  scope: CallScope,
): Promise<FoundTemplate | undefined> {
  const { image: name, memory_mb, cpus } = spec;
  if (!isPlain(spec) && spec.shares === undefined) return undefined;
  const size = { memory_mb, cpus };
  if (await context.host.files.stat(templatesFolder(context, name)) === undefined) return undefined;
  if (spec.shares !== undefined) return refuse(name, SHARES_NEED_A_BOOT, scope);
  const image = await getImage(context, name);
  const first = await choose(context, image, size, scope);
  if (first.kind === "fits") return first;
  if (first.kind === "none") return refuse(name, first.reason, scope);
  try {
    await warmImage(context, image, size, scope);
  } catch (error) {
    scope.signal.throwIfAborted();
    return refuse(name, `${first.reason}, and it cannot be made anew: ${toHvError(error).message}`, scope);
  }
  const second = await choose(context, image, size, scope);
  return second.kind === "fits" ? second : refuse(name, second.reason, scope);
}

const SHARES_NEED_A_BOOT = "a folder cannot be shared with a clone, whose memory no other program may write";

/** What a template decides for all its clones, and what each of them may have for itself. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  "image",
  "memory_mb",
  "cpus",
  "name",
  "ttl_s",
  "tiedToUs",
]);

/** Whether a sandbox has nothing that no template was made with, such as another kernel. */
export function isPlain(spec: SandboxSpec): boolean {
  return Object.entries(spec).every(([field, value]) => value === undefined || PLAIN_FIELDS.has(field));
}

/** The sentence for an answer's warnings. */
export function coldStart(image: string, reason: string): string {
  return `The sandbox was booted, not cloned from the warm template of "${image}": ${reason}`;
}

function refuse(image: string, reason: string | undefined, { warn }: CallScope): undefined {
  if (reason !== undefined) warn?.(coldStart(image, reason));
  return undefined;
}

async function choose(
  context: QemuContext,
  image: Image,
  { memory_mb, cpus }: MachineSize,
  scope: CallScope,
): Promise<Exclude<Choice, { kind: "fits" }> | FoundTemplate & { kind: "fits" }> {
  const use = await shareUse(context, image.name, scope.signal);
  let isKept = false;
  try {
    const choice = await chooseTemplate(context, image, { memory_mb, cpus }, scope);
    if (choice.kind !== "fits") return choice;
    isKept = true;
    return { ...choice, [Symbol.dispose]: () => use.release() };
  } finally {
    if (!isKept) use.release();
  }
}
