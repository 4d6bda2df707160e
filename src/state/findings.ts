/** What was found out about this host once and holds until it boots again, such as whether its KVM runs guests. */

import type { JsonValue } from "../base/json.ts";

/** A cache of findings. Reading needs no state folder; writing happens in changing calls only. */
export interface Findings {
  /** The finding under this key, when it was made since this host booted. */
  get(key: string): Promise<JsonValue | undefined>;
  put(key: string, value: JsonValue): Promise<void>;
}
