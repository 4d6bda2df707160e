/** From what the operations answer to our nouns. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import type { Checkpoint } from "../../contract/checkpoint.ts";
import type { Vm, VmChange, VmState } from "../../contract/vm.ts";
import { stateOf } from "./machines/states.ts";
import { readNext, readTag } from "./machines/tag.ts";

/** One VM as `ConvertTo-MachineFacts` gives it. 64-bit numbers come as text. */
export const MachineFacts = z.object({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  state_number: z.int(),
  status: z.string(),
  statuses: z.array(z.int()),
  heartbeat: z.string(),
  notes: z.string(),
  generation: z.int(),
  memory_startup: z.string(),
  cpus: z.int(),
  created: z.nullable(z.string()),
  version: z.string(),
  path: z.string(),
  checkpoint_type: z.string(),
  current_checkpoint: z.nullable(z.string()),
});
export type MachineFacts = z.infer<typeof MachineFacts>;

/** Answers of operations that give one VM. */
export const MachineAnswer = z.object({ machine: MachineFacts });

/** One checkpoint as `ConvertTo-CheckpointFacts` gives it. */
export const CheckpointFacts = z.object({
  id: z.string(),
  name: z.string(),
  parent: z.nullable(z.string()),
  created: z.nullable(z.string()),
  memory_state: z.boolean(),
  kind: z.string(),
});
export type CheckpointFacts = z.infer<typeof CheckpointFacts>;

const BYTES_PER_MIB = 1024 * 1024;

/** A VM as the tools show it. Its memory is what it starts with, so that one that is off does not seem to have none. */
export function vmOf(facts: MachineFacts, simulated: boolean): Vm {
  const { state, reason } = stateOf(facts.state_number, facts.state, facts.statuses);
  const tag = readTag(facts.notes);
  const created = facts.created ?? tag?.created_at;
  const { waiting, size } = sizeOf(facts, state);
  return {
    id: `vm-${facts.id}`,
    name: facts.name,
    state,
    ...(reason === undefined ? {} : { state_reason: reason }),
    driver: "hyperv",
    sandbox: tag?.sandbox !== undefined,
    managed: tag !== undefined,
    ...(tag?.adopted ? { adopted: true } : {}),
    ...(tag?.image === undefined ? {} : { image: tag.image }),
    ...(tag?.sandbox?.expires_at === undefined ? {} : { expires_at: tag.sandbox.expires_at }),
    ...size,
    ...(Object.keys(waiting).length === 0 ? {} : { at_next_start: waiting }),
    generation: facts.generation,
    ...(facts.generation === 2 ? { firmware: "uefi" as const } : {}),
    ...(created === undefined ? {} : { created_at: created }),
    ...(simulated ? { simulated: true } : {}),
  };
}

/** What a VM has, and what it gets at its next start; one that is off has that already. */
function sizeOf(
  facts: MachineFacts,
  state: VmState,
): { size: { memory_mb: number; cpus: number }; waiting: VmChange } {
  const size = { memory_mb: Math.round(Number(facts.memory_startup) / BYTES_PER_MIB), cpus: facts.cpus };
  const next = readNext(facts.notes);
  if (state !== "off") return { size, waiting: next };
  return { size: { memory_mb: next.memory_mb ?? size.memory_mb, cpus: next.cpus ?? size.cpus }, waiting: {} };
}

/** A checkpoint as the tools show it. */
export function checkpointOf(facts: CheckpointFacts, machine: MachineFacts): Checkpoint {
  return {
    id: `ckpt-${facts.id}`,
    vm: `vm-${machine.id}`,
    name: facts.name,
    parent: facts.parent === null ? null : `ckpt-${facts.parent}`,
    created_at: facts.created ?? new Date(0).toISOString(),
    memory_state: facts.memory_state,
    restores_to: facts.memory_state ? "running" : "off",
    current: machine.current_checkpoint === facts.id,
    size_bytes: null,
  };
}

/** Reads an answer by its schema; one that does not fit is a bug of ours and says so. */
export function readAnswer<T extends z.ZodMiniType>(
  schema: T,
  answer: unknown,
  operation: string,
): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new HvError("hv.internal", `The answer of "${operation}" is not what was agreed`, {
    hint: "Report this with the context below",
    context: {
      operation,
      issues: parsed.error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".")}: ${message}`),
    },
  });
}
