/** The words of QEMU's argument vector that several of its parts are made of. */

/** Doubles the commas of a value inside an option list: QEMU reads a single one as the next option. */
export function escapeOption(value: string): string {
  return value.replaceAll(",", ",,");
}

/** One device, by its options. */
export function device(text: string): string[] {
  return ["-device", text];
}

/** A socket on which QEMU listens, and waits for nobody. */
export function listeningSocket(id: string, path: string): string {
  return `${connectedSocket(id, path)},server=on,wait=off`;
}

/** A socket on which somebody else listens. */
export function connectedSocket(id: string, path: string): string {
  return `socket,id=${id},path=${escapeOption(path)}`;
}
