/** Identifiers: `vm-<uuid>`, `ckpt-<uuid>`, `op-<ulid>`, `plan-<ulid>`. */

const ULID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new ULID: 48 bits of the given time in milliseconds and 80 random bits, sorting by time. */
export function newUlid(now: number): string {
  let time = now;
  let head = "";
  for (let i = 0; i < 10; i++) {
    head = ULID_ALPHABET.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  const random = crypto.getRandomValues(new Uint8Array(16));
  return head + Array.from(random, (byte) => ULID_ALPHABET.charAt(byte & 31)).join("");
}

/** A new identifier of a virtual machine. */
export function newVmId(): string {
  return `vm-${crypto.randomUUID()}`;
}

/** The UUID inside `vm-<uuid>` or `ckpt-<uuid>`, in lower case. */
export function uuidOf(id: string): string {
  return id.slice(id.indexOf("-") + 1).toLowerCase();
}

/** A new identifier of a checkpoint. */
export function newCheckpointId(): string {
  return `ckpt-${crypto.randomUUID()}`;
}

/** Reads `ckpt-<uuid>` or a bare uuid as an identifier of a checkpoint; any other text is a name. */
export function parseCheckpointId(text: string): string | undefined {
  const bare = text.startsWith("ckpt-") ? text.slice(5) : text;
  return UUID.test(bare) ? `ckpt-${bare.toLowerCase()}` : undefined;
}

/** Reads `vm-<uuid>` or a bare uuid as an identifier of a virtual machine; any other text is a name. */
export function parseVmId(text: string): string | undefined {
  const bare = text.startsWith("vm-") ? text.slice(3) : text;
  return UUID.test(bare) ? `vm-${bare.toLowerCase()}` : undefined;
}
