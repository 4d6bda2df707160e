/** Checkpoints: points that a VM can go back to. */

import * as z from "zod/mini";
import { VmName } from "./names.ts";

/** A checkpoint's name: as free as a VM's. */
export const CheckpointName = VmName;

/** A checkpoint of a VM by its id, its bare uuid or its exact name. */
export const CheckpointRef = z.string().check(
  z.minLength(1),
  z.maxLength(255),
  z.describe("Checkpoint id or exact name"),
);

/** A checkpoint as the driver sees it now. `parent` is the checkpoint that was current when it was made. */
export const Checkpoint = z.object({
  id: z.string(),
  vm: z.string(),
  name: z.string(),
  parent: z.nullable(z.string()),
  created_at: z.string(),
  /** Whether it holds the memory, so that a restored VM goes on where it was. */
  memory_state: z.boolean(),
  /** The state that the VM is in after a restore. */
  restores_to: z.enum(["running", "off"]),
  /** Whether the VM's present state descends from it directly. */
  current: z.boolean(),
  size_bytes: z.nullable(z.int()),
});
export type Checkpoint = z.infer<typeof Checkpoint>;
