/** Zod's writer of JSON Schema. A file of its own, so that the bundle keeps it out of what every command loads. */

import * as z from "zod/mini";

export const toJSONSchema: typeof z.toJSONSchema = z.toJSONSchema;
