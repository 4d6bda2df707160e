/** The smallest guest there is: a boot sector that tells QEMU to end. */

/** What it writes to the debug port. */
const VALUE = 0x2a;

/** QEMU's `isa-debug-exit` ends the process with twice the value plus one. */
export const BOOT_SECTOR_EXIT_CODE = VALUE * 2 + 1;

const CODE = [
  0xba,
  0xf4,
  0x00, // mov dx, 0xf4
  0xb0,
  VALUE, //      mov al, VALUE
  0xee, //             out dx, al
  0xf4, //             hlt
  0xeb,
  0xfd, //       jmp to the hlt
];

/** A disk smaller than that has no geometry that SeaBIOS would boot from. */
const DISK_BYTES = 1024 * 1024;

/** A disk whose first sector a BIOS loads and runs. */
export function bootDisk(): Uint8Array<ArrayBuffer> {
  const disk = new Uint8Array(DISK_BYTES);
  disk.set(CODE);
  disk.set([0x55, 0xaa], 510);
  return disk;
}
