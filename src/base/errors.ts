/** Every failure that hvlab reports: one form on every door, one exit code for each code. */

import type { JsonObject } from "./json.ts";

/** Each error code with the exit code that the command line gives for it. */
export const EXIT_CODE_OF = {
  "hv.usage": 2,
  "hv.not_found": 3,
  "hv.ambiguous": 3,
  "hv.conflict": 4,
  "hv.permission": 5,
  "hv.policy_denied": 5,
  "hv.plan_required": 6,
  "hv.plan_invalid": 6,
  "hv.unsupported": 7,
  "hv.unavailable": 8,
  "hv.timeout": 9,
  "hv.cancelled": 10,
  "hv.guest_not_ready": 11,
  "hv.guest_auth": 11,
  "hv.guest_identity": 11,
  "hv.guest_denied": 11,
  "hv.guest_crashed": 11,
  "hv.job_failed": 12,
  "hv.outcome_unknown": 13,
  "hv.bad_image": 14,
  "hv.bad_dump": 14,
  "hv.io": 15,
  "hv.internal": 70,
} as const;

export type ErrorCode = keyof typeof EXIT_CODE_OF;

/** Codes whose cause may pass by itself, so that the same call can succeed later. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "hv.unavailable",
  "hv.timeout",
  "hv.guest_not_ready",
]);

/** What a failure says of itself beside its code and message. */
export interface ErrorDetails {
  /** What to do next, as one sentence without a full stop. */
  hint?: string;
  /** Facts for programs: names, states wanted and found, offsets. Never a secret. */
  context?: JsonObject;
  /** Overrides what the code alone says about trying again. */
  retryable?: boolean;
  /** The error underneath, kept for reports of our own bugs. */
  cause?: unknown;
}

/** The form of a failure as users and agents see it. */
export interface ErrorEnvelope {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  hint?: string;
  context: JsonObject;
  correlation_id: string;
}

/** A failure with a stable code. Messages quote values, say found and wanted, and carry no full stop. */
export class HvError extends Error {
  override readonly name = "HvError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly context: JsonObject;
  readonly retryable: boolean;
  readonly correlationId: string = crypto.randomUUID();

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.context = details.context ?? {};
    this.retryable = details.retryable ?? RETRYABLE.has(code);
  }

  get exitCode(): number {
    return EXIT_CODE_OF[this.code];
  }

  toEnvelope(): ErrorEnvelope {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      context: this.context,
      correlation_id: this.correlationId,
    };
  }

  /** The same failure with more facts in its context; the facts it already states win. */
  withContext(context: JsonObject): HvError {
    return new HvError(this.code, this.message, {
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      context: { ...context, ...this.context },
      retryable: this.retryable,
      cause: this.cause,
    });
  }
}

/** Turns whatever was thrown into an {@link HvError}; what we did not foresee becomes `hv.internal`. */
export function toHvError(thrown: unknown): HvError {
  if (thrown instanceof HvError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const stack = thrown instanceof Error && thrown.stack ? { stack: thrown.stack } : {};
  return new HvError("hv.internal", `Unexpected failure: ${message}`, {
    hint: "Report this with the context below",
    context: stack,
    cause: thrown,
  });
}
