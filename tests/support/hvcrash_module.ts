/** The module that crashes guests, when `tools/image/build_hvcrash.sh` has built it. */

const MODULE = new URL("../../dist/hvcrash/hvcrash.ko", import.meta.url);

/** Its bytes; `undefined` when it has not been built. */
export function findCrashModule(): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Deno.readFileSync(MODULE);
  } catch {
    return undefined;
  }
}
