/** Where the fields of user-mode minidumps lie. Offsets are from the start of each structure. */

import { at } from "../layout.ts";

export const MINIDUMP_HEADER = {
  signature: at(0x00, 4, "breakpad"),
  version: at(0x04, 4, "breakpad"),
  number_of_streams: at(0x08, 4, "breakpad"),
  stream_directory_rva: at(0x0C, 4, "breakpad"),
  check_sum: at(0x10, 4, "breakpad"),
  time_date_stamp: at(0x14, 4, "breakpad"),
  flags: at(0x18, 8, "breakpad"),
} as const;

export const DIRECTORY_ENTRY = {
  stream_type: at(0, 4, "breakpad"),
  data_size: at(4, 4, "breakpad"),
  rva: at(8, 4, "breakpad"),
} as const;

export const HEADER_BYTES = 0x20;
export const DIRECTORY_ENTRY_BYTES = 12;

/** Numbers of the streams that an inspection looks at. */
export const STREAM = {
  threadList: 3,
  moduleList: 4,
  memoryList: 5,
  exception: 6,
  systemInfo: 7,
  threadExList: 8,
  memory64List: 9,
  commentA: 10,
  commentW: 11,
  unloadedModuleList: 14,
  miscInfo: 15,
  threadNames: 24,
} as const;

export const SYSTEM_INFO = {
  processor_architecture: at(0x00, 2, "breakpad"),
  number_of_processors: at(0x06, 1, "breakpad"),
  product_type: at(0x07, 1, "breakpad"),
  major_version: at(0x08, 4, "breakpad"),
  minor_version: at(0x0C, 4, "breakpad"),
  build_number: at(0x10, 4, "breakpad"),
  platform_id: at(0x14, 4, "breakpad"),
  csd_version_rva: at(0x18, 4, "breakpad"),
  suite_mask: at(0x1C, 2, "breakpad"),
} as const;

export const EXCEPTION_STREAM = {
  thread_id: at(0x00, 4, "breakpad"),
  code: at(0x08, 4, "breakpad"),
  flags: at(0x0C, 4, "breakpad"),
  address: at(0x18, 8, "breakpad"),
  number_parameters: at(0x20, 4, "breakpad"),
  parameters: at(0x28, 15 * 8, "breakpad"),
} as const;

export const MISC_INFO = {
  size_of_info: at(0x00, 4, "breakpad"),
  flags: at(0x04, 4, "breakpad"),
  process_id: at(0x08, 4, "breakpad"),
  process_create_time: at(0x0C, 4, "breakpad"),
} as const;

/** Position and size of something in the file. */
export const LOCATION = { size: at(0x00, 4, "breakpad"), rva: at(0x04, 4, "breakpad") } as const;

/** Where the exception stream keeps the location of its context. */
export const EXCEPTION_CONTEXT = at(0xA0, 8, "breakpad");

/** An element of the module list. */
export const MODULE = {
  base: at(0x00, 8, "breakpad"),
  size_of_image: at(0x08, 4, "breakpad"),
  check_sum: at(0x0C, 4, "breakpad"),
  time_date_stamp: at(0x10, 4, "breakpad"),
  name_rva: at(0x14, 4, "breakpad"),
  version_signature: at(0x18, 4, "breakpad"),
  file_version: at(0x20, 8, "breakpad"),
  product_version: at(0x28, 8, "breakpad"),
  code_view: at(0x4C, 8, "breakpad"),
} as const;
export const MODULE_BYTES = 108;

/** An element of either list of threads; the longer form has more behind it. */
export const THREAD = {
  id: at(0x00, 4, "breakpad"),
  suspend_count: at(0x04, 4, "breakpad"),
  priority_class: at(0x08, 4, "breakpad"),
  priority: at(0x0C, 4, "breakpad"),
  teb: at(0x10, 8, "breakpad"),
  stack_start: at(0x18, 8, "breakpad"),
  stack_location: at(0x20, 8, "breakpad"),
  context: at(0x28, 8, "breakpad"),
} as const;
export const THREAD_BYTES = 48;
export const THREAD_EX_BYTES = 64;

/** An element of the list of unloaded modules, whose head tells how long its elements are. */
export const UNLOADED_MODULE = {
  base: at(0x00, 8, "breakpad"),
  size_of_image: at(0x08, 4, "breakpad"),
  check_sum: at(0x0C, 4, "breakpad"),
  time_date_stamp: at(0x10, 4, "breakpad"),
  name_rva: at(0x14, 4, "breakpad"),
} as const;
export const UNLOADED_MODULE_BYTES = 24;

/** An element of the memory list; those of the 64-bit list have a 64-bit size and no position. */
export const MEMORY_RANGE = {
  start: at(0x00, 8, "breakpad"),
  size: at(0x08, 4, "breakpad"),
  rva: at(0x0C, 4, "breakpad"),
} as const;
export const MEMORY_RANGE_BYTES = 16;

/** An element of the list of thread names; it is packed. */
export const THREAD_NAME = { thread_id: at(0x00, 4, "breakpad"), rva: at(0x04, 8, "breakpad") } as const;
export const THREAD_NAME_BYTES = 12;
