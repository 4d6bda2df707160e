/** hvlab: argument vector in, exit code out. */

// Loaded while it runs: Deno takes longer over what is imported before (Deno 2.9.6).
const { start } = await import("./src/start.ts");

Deno.exit(await start(Deno.args));
