/** `HOST:GUEST`, as `--copy` takes it. */

import { HvError } from "../../base/errors.ts";

/** One file to copy into a guest. */
export interface CopyPair {
  source: string;
  destination: string;
}

/**
 * Splits `HOST:GUEST` at the first colon that is not a drive letter's (`C:\x:/tmp/x`). Throws `hv.usage` when a
 * side is missing.
 */
export function readCopyPair(word: string): CopyPair {
  const drive = /^[A-Za-z]:[\\/]/.test(word) ? 2 : 0;
  const colon = word.indexOf(":", drive);
  const source = word.slice(0, colon);
  const destination = word.slice(colon + 1);
  if (colon >= 0 && source !== "" && destination !== "") return { source, destination };
  throw new HvError("hv.usage", `Cannot read "${word}" as a file to copy`, {
    hint: "Write it as HOST:GUEST, for example ./driver.ko:/tmp/driver.ko",
    context: { copy: word },
  });
}
