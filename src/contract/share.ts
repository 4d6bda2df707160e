/** Folders of the host that a guest sees. */

import * as z from "zod/mini";

/** A shared folder as a call names it. */
export const ShareWord = z.string().check(z.minLength(1), z.describe("HOST_DIR:GUEST_DIR[:ro]"));

/** One shared folder. */
export const Share = z.object({
  /** The folder on this host, as a full path without links. */
  host: z.string(),
  /** Where the guest has it. */
  guest: z.string(),
  /** Whether the guest cannot change it, whatever it tries. */
  read_only: z.boolean(),
});
export type Share = z.infer<typeof Share>;
