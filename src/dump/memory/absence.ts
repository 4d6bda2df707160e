/** Why bytes of a machine's memory are not there. A missing page is an answer: it is never read as zeros. */

import { hex } from "../numbers.ts";

/** The reason that a read or a translation ends without bytes. */
export type Absence =
  /** No entry for the address; `level` is that of the table, 1 for the last one. */
  | { readonly why: "not_mapped"; readonly level: number }
  /** No processor has such an address. */
  | { readonly why: "not_canonical" }
  /** The page exists, but this dump does not hold its frame. */
  | { readonly why: "not_in_dump"; readonly frame: number }
  /** The dump lists the page, and the file ends before it. */
  | { readonly why: "truncated"; readonly frame: number | null }
  /** The page was in a page file: its number there and the offset in pages, as the entry has them. */
  | { readonly why: "paged_out"; readonly file: number; readonly offset: number }
  /** The page has to be read from the file that it maps. */
  | { readonly why: "file_backed" }
  /** An entry whose form is not understood, or that leads nowhere. */
  | { readonly why: "unknown_entry"; readonly level: number }
  /** The dump holds pieces of memory, and none of them has the address. */
  | { readonly why: "not_captured" };

/** Whether the answer is a reason and not bytes or a place. */
export function isAbsence(value: object): value is Absence {
  return "why" in value;
}

/** The reason as a phrase for people: `page frame 0x300 is not in the dump`. */
export function describeAbsence(absence: Absence): string {
  switch (absence.why) {
    case "not_mapped":
      return `not mapped (table level ${absence.level})`;
    case "not_canonical":
      return "no valid address";
    case "not_in_dump":
      return `page frame ${hex(absence.frame)} is not in the dump`;
    case "truncated":
      return "the file ends before this page";
    case "paged_out":
      return `paged out to page file ${absence.file}, page ${hex(absence.offset)}`;
    case "file_backed":
      return "not in memory: part of a mapped file";
    case "unknown_entry":
      return `page table entry of an unknown form (table level ${absence.level})`;
    case "not_captured":
      return "not among the captured memory";
  }
}
