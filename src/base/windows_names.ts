/** Which names of files Windows can have. */

/** Devices that Windows finds under these names in every folder, whatever ending follows. */
const DEVICE = /^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|COM[0-9¹²³]|LPT[0-9¹²³])\s*(?:\.|$)/i;
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x1f<>:"|?*\\/]/;

/** Why Windows cannot have a file or a folder of this name; `undefined` where it can. */
export function refuseWindowsName(name: string): string | undefined {
  const letter = FORBIDDEN.exec(name)?.[0];
  if (letter !== undefined) return `it holds ${JSON.stringify(letter)}`;
  if (/[ .]$/.test(name)) return `it ends with ${JSON.stringify(name.slice(-1))}`;
  if (DEVICE.test(name)) return "it is a device's";
  return undefined;
}
