/** Tests that take minutes: they run on request, with `HVLAB_SOAK=1`. */

/** Whether they were asked for. */
export const IS_SOAK = (Deno.env.get("HVLAB_SOAK") ?? "") !== "";
