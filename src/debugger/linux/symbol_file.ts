/** A `System.map` or `vmlinux` that the user names, for cores whose own symbols are lost. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { KernelSymbols } from "../../dump/linux/kernel/symbol_table.ts";
import { readSystemMap, readVmlinux, SymbolTable } from "../../dump/linux/kernel/symbol_table.ts";
import type { Vmcoreinfo } from "../../dump/linux/kernel/vmcoreinfo.ts";
import { badDump } from "../../dump/reasons.ts";
import type { DumpFiles } from "../inspect_file.ts";

/**
 * Gives the symbols of the kernel that VMCOREINFO is of. Fails with `hv.bad_dump` when they do not fit or cannot be
 * read.
 */
export type GivenSymbols = (info: Vmcoreinfo) => KernelSymbols;

const LARGEST_MAP = 64 * 1024 * 1024;
const ANCHOR = "_stext";

/** Looks at the path now and reads it when it is needed: a file, or a folder with a file for the kernel's release. */
export async function symbolsAt(files: DumpFiles, path: string): Promise<GivenSymbols> {
  const facts = await files.stat(path, { follow: true });
  if (facts === undefined) {
    throw new HvError("hv.not_found", `Cannot read the symbols "${path}": it does not exist`, {
      hint: "Give a System.map, a vmlinux, or a folder that holds one",
      context: { path },
    });
  }
  if (facts.kind !== "folder") return (info) => readSymbols(files, path, info);
  const names = new Set((await files.list(path)).map(({ name }) => name));
  return (info) => {
    const release = info.release ?? "";
    const wanted = [`System.map-${release}`, `vmlinux-${release}`, "System.map", "vmlinux"];
    const name = wanted.find((each) => names.has(each));
    if (name === undefined) {
      throw badDump(
        "kallsyms",
        `The folder "${path}" has no symbols of the kernel: none of ${wanted.join(", ")}`,
      );
    }
    return readSymbols(files, joinPath(path, name), info);
  };
}

function readSymbols(files: DumpFiles, path: string, info: Vmcoreinfo): KernelSymbols {
  using file = files.open(path);
  const isElf = String.fromCharCode(...file.read(0, 4)) === "\x7FELF";
  const symbols = isElf
    ? readVmlinux(file)
    : readSystemMap(new TextDecoder().decode(file.read(0, Math.min(file.size, LARGEST_MAP))));
  const table = new SymbolTable(symbols, info.kernelOffset);
  if (table.addressOf(ANCHOR) !== info.symbol(ANCHOR)) {
    throw badDump(
      "kallsyms",
      `The symbols "${visibleText(path)}" are not of this kernel: they place ${ANCHOR} elsewhere`,
    );
  }
  return table;
}
