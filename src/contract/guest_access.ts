/** How a call gets into a guest, as several tools take it. */

import * as z from "zod/mini";

/** The channels that can be asked for. */
export const Channel = z.enum(["agent", "ssh", "psdirect"]);

/** The name of a variable in the environment of hvlab. */
const VariableName = z.string().check(
  z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name has letters, digits and _"),
);

/** Fields of every tool that works in a guest. */
export const GUEST_ACCESS = {
  channel: z.optional(Channel),
  user: z.optional(z.string().check(z.minLength(1))),
  password_from_env: z.optional(VariableName),
} as const;

/** The names of those fields, which a default list leaves out. */
export const ACCESS_FIELDS = ["channel", "user", "password_from_env"] as const;

export const ACCESS_HELP = {
  channel: "The way into the guest; the best one when left out",
  user: "Whom to log in as, on channels that log in",
  password_from_env: "The variable that holds that user's password",
} as const;

/** A way that was not taken, and why. */
export const UnusedChannel = z.object({ channel: z.string(), reason: z.string() });

/** How cloud-init came out at this boot. */
export const CloudInitOutcome = z.object({
  /** `absent` is a guest without it, `disabled` one in which it was switched off. */
  state: z.enum(["running", "done", "failed", "absent", "disabled"]),
  errors: z.optional(z.array(z.string())),
  warnings: z.optional(z.array(z.string())),
});
export type CloudInitOutcome = z.infer<typeof CloudInitOutcome>;

/** What a login that succeeded showed. */
export const LoginSeen = z.object({
  channel: z.string(),
  channels_not_used: z.optional(z.array(UnusedChannel)),
  /** Which boot of the guest answered; `null` where the guest does not tell. */
  boot_id: z.nullable(z.string()),
});
