/** Opens a kernel whose debugger data is scrambled, with what its symbols tell. */

import type { DumpSession } from "../../dump/session.ts";
import { SymbolFiles } from "../symbols/symbol_files.ts";
import type { SymbolStores } from "../symbols/stores.ts";

/** The kernel's variables that are the key, by their public names. */
const NAMES = ["KiWaitNever", "KiWaitAlways", "KdpDataBlockEncoded"] as const;

/** The same dump, decoded when it needs to be and the kernel's symbols are there; else as it was. */
export async function decodeKernel(session: DumpSession, stores: SymbolStores): Promise<DumpSession> {
  if (session.mode !== "kernel" || session.debuggerDataProblem !== "kdbg_encoded") return session;
  const kernel = session.modules.all[0];
  const symbols = kernel === undefined ? null : await new SymbolFiles(session, stores).symbols(kernel);
  if (kernel === undefined || symbols === null) return session;
  const found = symbols.pdb.findPublics(new Set(NAMES));
  const [waitNever, waitAlways, dataBlockEncoded] = NAMES.map((name) => {
    const rva = found.get(name);
    return rva === undefined ? undefined : kernel.base + BigInt(rva);
  });
  if (waitNever === undefined || waitAlways === undefined || dataBlockEncoded === undefined) return session;
  return session.decodeWith({ waitNever, waitAlways, dataBlockEncoded });
}
