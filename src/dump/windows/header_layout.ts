/** Where the fields of the two kernel dump headers lie. Reading and meaning are elsewhere. */

import { at, type Field } from "../layout.ts";

/** Fields that both headers have; sizes differ where a field holds an address. */
export type HeaderFieldName =
  | "signature"
  | "valid_dump"
  | "major_version"
  | "minor_version"
  | "directory_table_base"
  | "pfn_data_base"
  | "ps_loaded_module_list"
  | "ps_active_process_head"
  | "machine_image_type"
  | "number_processors"
  | "bug_check_code"
  | "bug_check_parameter1"
  | "bug_check_parameter2"
  | "bug_check_parameter3"
  | "bug_check_parameter4"
  | "version_user"
  | "kd_secondary_version"
  | "kd_debugger_data_block"
  | "number_of_runs"
  | "number_of_pages"
  | "runs"
  | "context_record"
  | "exception"
  | "comment"
  | "attributes"
  | "boot_id"
  | "dump_type"
  | "mini_dump_fields"
  | "secondary_data_state"
  | "product_type"
  | "suite_mask"
  | "writer_status"
  | "required_dump_space"
  | "system_up_time"
  | "system_time"
  | "reserved";

/** One of the two header forms. */
export interface HeaderLayout {
  readonly bits: 32 | 64;
  /** Size of the whole header; the body starts here. */
  readonly size: number;
  readonly fields: Readonly<Record<HeaderFieldName, Field>>;
  /** Only 32-bit machines say whether they use physical address extension. */
  readonly pae_enabled: Field | null;
}

/** DUMP_HEADER64: signature `PAGE` `DU64`. */
export const HEADER64: HeaderLayout = {
  bits: 64,
  size: 0x2000,
  pae_enabled: null,
  fields: {
    signature: at(0x0000, 4, "kdmp-parser"),
    valid_dump: at(0x0004, 4, "kdmp-parser"),
    major_version: at(0x0008, 4, "kdmp-parser"),
    minor_version: at(0x000C, 4, "kdmp-parser"),
    directory_table_base: at(0x0010, 8, "kdmp-parser"),
    pfn_data_base: at(0x0018, 8, "kdmp-parser"),
    ps_loaded_module_list: at(0x0020, 8, "kdmp-parser"),
    ps_active_process_head: at(0x0028, 8, "kdmp-parser"),
    machine_image_type: at(0x0030, 4, "kdmp-parser"),
    number_processors: at(0x0034, 4, "kdmp-parser"),
    bug_check_code: at(0x0038, 4, "kdmp-parser"),
    bug_check_parameter1: at(0x0040, 8, "kdmp-parser"),
    bug_check_parameter2: at(0x0048, 8, "kdmp-parser"),
    bug_check_parameter3: at(0x0050, 8, "kdmp-parser"),
    bug_check_parameter4: at(0x0058, 8, "kdmp-parser"),
    version_user: at(0x0060, 32, "rekall"),
    kd_debugger_data_block: at(0x0080, 8, "kdmp-parser"),
    number_of_runs: at(0x0088, 4, "kdmp-parser"),
    number_of_pages: at(0x0090, 8, "rekall"),
    runs: at(0x0098, 0x2AC, "kdmp-parser"),
    context_record: at(0x0348, 3000, "kdmp-parser"),
    exception: at(0x0F00, 0x98, "kdmp-parser"),
    dump_type: at(0x0F98, 4, "kdmp-parser"),
    required_dump_space: at(0x0FA0, 8, "kdmp-parser"),
    system_time: at(0x0FA8, 8, "kdmp-parser"),
    comment: at(0x0FB0, 128, "kdmp-parser"),
    system_up_time: at(0x1030, 8, "kdmp-parser"),
    mini_dump_fields: at(0x1038, 4, "kdmp-parser"),
    secondary_data_state: at(0x103C, 4, "kdmp-parser"),
    product_type: at(0x1040, 4, "kdmp-parser"),
    suite_mask: at(0x1044, 4, "kdmp-parser"),
    writer_status: at(0x1048, 4, "kdmp-parser"),
    kd_secondary_version: at(0x104D, 1, "kdmp-parser"),
    attributes: at(0x1050, 4, "reactos"),
    boot_id: at(0x1054, 4, "reactos"),
    reserved: at(0x1058, 4008, "kdmp-parser"),
  },
};

/** DUMP_HEADER32: signature `PAGE` `DUMP`. */
export const HEADER32: HeaderLayout = {
  bits: 32,
  size: 0x1000,
  pae_enabled: at(0x05C, 1, "rekall"),
  fields: {
    signature: at(0x000, 4, "rekall"),
    valid_dump: at(0x004, 4, "rekall"),
    major_version: at(0x008, 4, "rekall"),
    minor_version: at(0x00C, 4, "rekall"),
    directory_table_base: at(0x010, 4, "rekall"),
    pfn_data_base: at(0x014, 4, "rekall"),
    ps_loaded_module_list: at(0x018, 4, "rekall"),
    ps_active_process_head: at(0x01C, 4, "rekall"),
    machine_image_type: at(0x020, 4, "rekall"),
    number_processors: at(0x024, 4, "rekall"),
    bug_check_code: at(0x028, 4, "rekall"),
    bug_check_parameter1: at(0x02C, 4, "rekall"),
    bug_check_parameter2: at(0x030, 4, "rekall"),
    bug_check_parameter3: at(0x034, 4, "rekall"),
    bug_check_parameter4: at(0x038, 4, "rekall"),
    version_user: at(0x03C, 32, "rekall"),
    kd_secondary_version: at(0x05D, 1, "reactos"),
    kd_debugger_data_block: at(0x060, 4, "rekall"),
    number_of_runs: at(0x064, 4, "rekall"),
    number_of_pages: at(0x068, 4, "rekall"),
    runs: at(0x06C, 0x2B4, "rekall"),
    context_record: at(0x320, 1200, "rekall"),
    exception: at(0x7D0, 0x50, "rekall"),
    comment: at(0x820, 128, "rekall"),
    attributes: at(0x8A0, 4, "reactos"),
    boot_id: at(0x8A4, 4, "reactos"),
    reserved: at(0x8A8, 1760, "reactos"),
    dump_type: at(0xF88, 4, "rekall"),
    mini_dump_fields: at(0xF8C, 4, "reactos"),
    secondary_data_state: at(0xF90, 4, "reactos"),
    product_type: at(0xF94, 4, "reactos"),
    suite_mask: at(0xF98, 4, "reactos"),
    writer_status: at(0xF9C, 4, "reactos"),
    required_dump_space: at(0xFA0, 8, "rekall"),
    system_up_time: at(0xFB8, 8, "rekall"),
    system_time: at(0xFC0, 8, "rekall"),
  },
};

/** EXCEPTION_RECORD64 and EXCEPTION_RECORD32, from the record's own start. */
export const EXCEPTION_RECORD = {
  64: {
    code: at(0x00, 4, "kdmp-parser"),
    flags: at(0x04, 4, "kdmp-parser"),
    address: at(0x10, 8, "kdmp-parser"),
    number_parameters: at(0x18, 4, "kdmp-parser"),
    parameters: at(0x20, 15 * 8, "kdmp-parser"),
  },
  32: {
    code: at(0x00, 4, "rekall"),
    flags: at(0x04, 4, "rekall"),
    address: at(0x0C, 4, "rekall"),
    number_parameters: at(0x10, 4, "rekall"),
    parameters: at(0x14, 15 * 4, "rekall"),
  },
} as const;

/** Where each machine's CONTEXT keeps its flags, program counter and stack pointer, and the flag that proves it. */
export const CONTEXT_RECORD = {
  x64: { flags: 0x30, mark: 0x00100000, program_counter: 0xF8, stack_pointer: 0x98, size: 8 },
  arm64: { flags: 0x00, mark: 0x00400000, program_counter: 0x108, stack_pointer: 0x100, size: 8 },
  x86: { flags: 0x00, mark: 0x00010000, program_counter: 0xB8, stack_pointer: 0xC4, size: 4 },
} as const;
