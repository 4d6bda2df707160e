/** Samples that lie outside the repository: beside it in `shared`, or where HVLAB_SHARED says. */

const folder = Deno.env.get("HVLAB_SHARED") ?? new URL("../../../shared", import.meta.url).pathname;

/** Path of a shared sample. */
export function samplePath(name: string): string {
  return `${folder}/${name}`;
}

/** Whether a sample is there; tests that need it are ignored otherwise. */
export function hasSample(name: string): boolean {
  try {
    Deno.statSync(samplePath(name));
    return true;
  } catch {
    return false;
  }
}

/** Bytes of a sample. */
export function readSample(name: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(samplePath(name));
}
