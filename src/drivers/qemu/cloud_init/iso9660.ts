/**
 * Images of optical discs that hold a few files in one folder (ISO 9660, ECMA-119). Names without capitals, as Linux shows them:
 * it takes capitals for small letters and leaves the version away.
 */

/** One file. */
export interface DiscFile {
  /** Small letters, digits and dashes. */
  name: string;
  content: Uint8Array;
}

const SECTOR = 2048;
/** The first sectors belong to nobody. */
const DESCRIPTOR_SECTOR = 16;
const LITTLE_TABLE_SECTOR = 18;
const BIG_TABLE_SECTOR = 19;
const FOLDER_SECTOR = 20;
const FILES_SECTOR = 21;
/** Version 1, and a dot where an ending would begin. */
const NAME_END = ".;1";
const PATH_TABLE_BYTES = 10;

/** The image's bytes. The label has at most 32 capitals, digits and underscores. */
export function writeDisc(label: string, files: readonly DiscFile[]): Uint8Array {
  const sorted = [...files].sort((one, other) => one.name < other.name ? -1 : 1);
  let sector = FILES_SECTOR;
  const placed = sorted.map(({ name, content }) => {
    const at = sector;
    sector += Math.ceil(content.length / SECTOR);
    return { identifier: new TextEncoder().encode(`${name.toUpperCase()}${NAME_END}`), content, at };
  });
  const disc = new Uint8Array(sector * SECTOR);
  const place = (at: number, bytes: Uint8Array): void => disc.set(bytes, at * SECTOR);
  const self = record(Uint8Array.of(0), FOLDER_SECTOR, SECTOR, FOLDER);
  const parent = record(Uint8Array.of(1), FOLDER_SECTOR, SECTOR, FOLDER);
  const entries = placed.map(({ identifier, content, at }) => record(identifier, at, content.length, 0));
  place(DESCRIPTOR_SECTOR, descriptor(label, sector, self));
  place(DESCRIPTOR_SECTOR + 1, Uint8Array.of(TERMINATOR, ...new TextEncoder().encode("CD001"), 1));
  place(LITTLE_TABLE_SECTOR, pathTable(true));
  place(BIG_TABLE_SECTOR, pathTable(false));
  let at = FOLDER_SECTOR * SECTOR;
  for (const entry of [self, parent, ...entries]) {
    disc.set(entry, at);
    at += entry.length;
  }
  for (const { content, at: start } of placed) place(start, content);
  return disc;
}

/** A folder's flag in its record. */
const FOLDER = 2;
const TERMINATOR = 255;

/** One name in a folder: where its bytes are, and how many. */
function record(identifier: Uint8Array, sector: number, size: number, flags: number): Uint8Array {
  const length = 33 + identifier.length;
  const bytes = new Uint8Array(length + length % 2);
  bytes[0] = bytes.length;
  setBoth32(bytes, 2, sector);
  setBoth32(bytes, 10, size);
  bytes.set(RECORDED, 18);
  bytes[25] = flags;
  setBoth16(bytes, 28, 1);
  bytes[32] = identifier.length;
  bytes.set(identifier, 33);
  return bytes;
}

/** The same seed is the same bytes: years since 1900, month, day, time, quarter hours from Greenwich. */
const RECORDED = Uint8Array.of(100, 1, 1, 0, 0, 0, 0);
const NO_DATE = "0".repeat(16);

function descriptor(label: string, sectors: number, root: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(SECTOR);
  const text = (at: number, value: string, length: number): void =>
    bytes.set(new TextEncoder().encode(value.padEnd(length)), at);
  bytes[0] = 1;
  text(1, "CD001", 5);
  bytes[6] = 1;
  text(8, "", 32);
  text(40, label, 32);
  setBoth32(bytes, 80, sectors);
  setBoth16(bytes, 120, 1);
  setBoth16(bytes, 124, 1);
  setBoth16(bytes, 128, SECTOR);
  setBoth32(bytes, 132, PATH_TABLE_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(140, LITTLE_TABLE_SECTOR, true);
  view.setUint32(148, BIG_TABLE_SECTOR, false);
  bytes.set(root, 156);
  text(190, "", 128 * 4 + 37 * 3);
  for (const at of [813, 830, 847, 864]) text(at, NO_DATE, 16);
  bytes[881] = 1;
  return bytes;
}

/** The table of folders has the root alone. */
function pathTable(isLittle: boolean): Uint8Array {
  const bytes = new Uint8Array(PATH_TABLE_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = 1;
  view.setUint32(2, FOLDER_SECTOR, isLittle);
  view.setUint16(6, 1, isLittle);
  return bytes;
}

/** Numbers stand twice, with the low byte first and with the high byte first. */
function setBoth32(bytes: Uint8Array, at: number, value: number): void {
  const view = new DataView(bytes.buffer);
  view.setUint32(at, value, true);
  view.setUint32(at + 4, value, false);
}

function setBoth16(bytes: Uint8Array, at: number, value: number): void {
  const view = new DataView(bytes.buffer);
  view.setUint16(at, value, true);
  view.setUint16(at + 2, value, false);
}
