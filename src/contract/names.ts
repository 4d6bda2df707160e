/** Names and references that users give, with the rules that keep them safe as folder, socket and option text. */

import * as z from "zod/mini";
import { parseCheckpointId, parseVmId } from "../base/ids.ts";

const CONTROL_CHARACTER = /\p{Cc}/u;
const NAME_LIMIT = 255;

function isName(text: string): boolean {
  return text.length > 0 && text.length <= NAME_LIMIT && !CONTROL_CHARACTER.test(text) &&
    text.trim() === text;
}

function isId(text: string): boolean {
  return parseVmId(text) !== undefined || parseCheckpointId(text) !== undefined;
}

/**
 * A VM's name: 1 to 255 characters, no control character, no white space at either end, and nothing that reads as
 * an id, since a reference by it would mean another VM. Everything else is allowed, since names never become part
 * of a path, an option or a script.
 */
export const VmName = z.string().check(
  z.refine(isName, `a name has 1 to ${NAME_LIMIT} characters, no control character and no space at its ends`),
  z.refine((text) => !isId(text), "a name is no uuid and no id like vm-UUID or ckpt-UUID"),
);

/** A VM by its id, its bare uuid or its exact name. */
export const VmRef = z.string().check(
  z.minLength(1),
  z.maxLength(NAME_LIMIT + 1),
  z.describe("VM id or exact name"),
);

/** Several VMs in one call; a single one may stand without a list. */
export const VmRefs = z.array(VmRef).check(
  z.refine((list) => list.length > 0, "at least one VM is wanted"),
  z.maxLength(100),
);

/** An image's name: it is a folder's name, so letters, digits, dot, dash and underscore, at most 64. */
export const ImageName = z.string().check(
  z.regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "an image name has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit",
  ),
);

/** The name of a host in a network: letters, digits and dashes, parts apart by dots. */
export const HostName = z.string().check(
  z.maxLength(253),
  z.regex(
    /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    "a host's name has letters, digits and dashes, at most 63 between two dots",
  ),
);
