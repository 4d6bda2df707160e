/** Paths that users give. A file of its own, since reading a dump needs no other name and is over in a moment. */

import * as z from "zod/mini";

/** A path on the host, or in a guest where the field says so. */
export const Path = z.string().check(
  z.minLength(1),
  z.refine((text) => !text.includes("\0"), "a path holds no NUL character"),
);
