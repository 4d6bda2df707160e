/** The buffer of records that held the log before Linux 5.10. */

import { badDump } from "../../reasons.ts";
import type { KernelMemory } from "./kernel_memory.ts";
import { type KernelLog, type LogRecord, recordText } from "./log_record.ts";
import type { Vmcoreinfo } from "./vmcoreinfo.ts";

const LARGEST_BUFFER = 2 ** 26;
/** Facility and flags stand behind the dictionary's length, the level on top of the flags. */
const LEVEL_BEHIND_DICTIONARY = 3;

/** Reads the records from the first to the next free one. Fails with `hv.bad_dump` (`kernel_log`, `missing_memory`). */
export function readPrintkRecords(memory: KernelMemory, info: Vmcoreinfo, bufferPointer: bigint): KernelLog {
  const variable = (name: string) => {
    const address = info.symbol(name);
    if (address === null) throw badDump("kernel_log", `VMCOREINFO does not say where ${name} is`);
    return memory.u32(address, name);
  };
  const size = variable("log_buf_len");
  const layout = {
    record: info.size("printk_log"),
    time: info.offset("printk_log.ts_nsec"),
    length: info.offset("printk_log.len"),
    text: info.offset("printk_log.text_len"),
    dictionary: info.offset("printk_log.dict_len"),
  };
  if (size > LARGEST_BUFFER || layout.record < 16) {
    throw badDump("kernel_log", `The kernel log claims ${size} bytes in records of ${layout.record}`);
  }
  const view = memory.view(
    memory.u64(bufferPointer, "the pointer to the kernel log"),
    size,
    "the kernel log",
  );
  const next = variable("log_next_idx");
  const records: LogRecord[] = [];
  let wrapped = false;
  for (let at = variable("log_first_idx"); at !== next;) {
    if (at + layout.record > size) return { records, lost: 1 };
    const length = view.getUint16(at + layout.length, true);
    if (length === 0) {
      // A record of no length says that the next one is at the start.
      if (wrapped) return { records, lost: 1 };
      wrapped = true;
      at = 0;
      continue;
    }
    const text = view.getUint16(at + layout.text, true);
    if (length < layout.record || at + length > size || layout.record + text > length) {
      return { records, lost: 1 };
    }
    records.push({
      time: view.getBigUint64(at + layout.time, true),
      level: view.getUint8(at + layout.dictionary + LEVEL_BEHIND_DICTIONARY) >> 5,
      text: recordText(new Uint8Array(view.buffer, view.byteOffset + at + layout.record, text)),
    });
    at += length;
    if (wrapped && at > next) return { records, lost: 1 };
  }
  return { records, lost: 0 };
}
