/** Operations: the record of every call that changes something. */

import * as z from "zod/mini";

export const OperationState = z.enum(["running", "succeeded", "failed", "cancelled", "unknown"]);
export type OperationState = z.infer<typeof OperationState>;

/** How far a piece of work has come. */
export const Progress = z.object({
  /** What is being done, as one short phrase. */
  message: z.string(),
  /** Share done from 0 to 1, where it is known. */
  fraction: z.optional(z.number()),
});
export type Progress = z.infer<typeof Progress>;

export const ErrorObject = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  hint: z.optional(z.string()),
  context: z.record(z.string(), z.unknown()),
  correlation_id: z.string(),
});

/** One call that changes something, as the store knows it. */
export const Operation = z.object({
  op: z.string(),
  tool: z.string(),
  target: z.nullable(z.string()),
  state: OperationState,
  started_at: z.string(),
  ended_at: z.nullable(z.string()),
  progress: z.optional(Progress),
  result: z.optional(z.unknown()),
  error: z.optional(ErrorObject),
});
export type Operation = z.infer<typeof Operation>;

/** One line of the audit trail: who did what to which object, and how it ended. Arguments with secrets are left out. */
export const AuditLine = z.object({
  at: z.string(),
  op: z.string(),
  tool: z.string(),
  class: z.string(),
  door: z.string(),
  target: z.nullable(z.string()),
  outcome: z.string(),
});
export type AuditLine = z.infer<typeof AuditLine>;
