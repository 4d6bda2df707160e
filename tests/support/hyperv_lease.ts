/** The lease of a sandbox on a simulated Hyper-V host, as its notes tell of it. */

import assert from "node:assert/strict";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { putTag, readTag } from "../../src/drivers/hyperv/machines/tag.ts";
import type { HyperVWorld } from "./hyperv_world.ts";

/** Rewrites the end of a sandbox's lease; `more` may change its notes further. */
export async function setLease(
  { host }: HyperVWorld,
  id: string,
  expires_at: string,
  more: (notes: string) => string = (notes) => notes,
): Promise<void> {
  const client = new HyperV(host);
  try {
    const scope = { signal: AbortSignal.timeout(300_000) };
    const { notes: was } = await client.getMachine(id, scope.signal);
    const tag = readTag(was);
    assert.ok(tag !== undefined);
    const notes = more(putTag(was, { ...tag, sandbox: { expires_at, tied: false } }));
    await client.changeMachine("set_machine", id, { notes, was }, scope);
  } finally {
    await client.close();
  }
}
