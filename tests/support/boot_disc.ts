/** A disc that a BIOS boots (ISO 9660 with an El Torito record) and that says so on the first serial port. */

const SECTOR = 2048;
const CATALOG = 19;
const CODE = 20;

/** The disc's bytes; its program prints `words` and halts. */
export function bootDisc(words: string): Uint8Array<ArrayBuffer> {
  const disc = new Uint8Array(SECTOR * 22);
  const put = (sector: number, offset: number, bytes: Iterable<number>): void =>
    disc.set([...bytes], sector * SECTOR + offset);
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  // Volume descriptors: the primary one, the boot record that names the catalog, the end.
  put(16, 0, [1, ...text("CD001"), 1]);
  put(17, 0, [0, ...text("CD001"), 1, ...text("EL TORITO SPECIFICATION")]);
  put(17, 0x47, [CATALOG, 0, 0, 0]);
  put(18, 0, [255, ...text("CD001"), 1]);
  // Validation entry, whose sixteen-bit words add up to zero, then the entry without emulation: one sector of code.
  put(CATALOG, 0, [1]);
  put(CATALOG, 0x1c, [0xaa, 0x55, 0x55, 0xaa]);
  put(CATALOG, 0x20, [0x88, 0, 0, 0, 0, 0, 4, 0, CODE, 0, 0, 0]);
  // mov dx, 0x3f8, then mov al, c; out dx, al for each character, then cli; hlt.
  put(CODE, 0, [0xba, 0xf8, 0x03, ...[...text(words)].flatMap((byte) => [0xb0, byte, 0xee]), 0xfa, 0xf4]);
  return disc;
}
