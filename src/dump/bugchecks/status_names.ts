/** Names of the NTSTATUS values that appear as exception and error codes in bug checks. */

/** A status with its name and what it means in one line. */
export interface StatusName {
  readonly name: string;
  readonly meaning: string;
}

/** From the public header ntstatus.h: name and value; the meanings are our own words. */
const STATUS_NAMES: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  0x00000000: ["STATUS_SUCCESS", "no error"],
  0x00000102: ["STATUS_TIMEOUT", "the time allowed ran out"],
  0x00000103: ["STATUS_PENDING", "the operation has not finished yet"],
  0x40010005: ["DBG_CONTROL_C", "Ctrl+C was pressed while a debugger was attached"],
  0x80000001: ["STATUS_GUARD_PAGE_VIOLATION", "a guard page was touched"],
  0x80000002: ["STATUS_DATATYPE_MISALIGNMENT", "data was accessed at an address that is not aligned"],
  0x80000003: ["STATUS_BREAKPOINT", "a breakpoint or assertion was reached with no debugger to take it"],
  0x80000004: ["STATUS_SINGLE_STEP", "a single-step trap was reached with no debugger to take it"],
  0x80000005: ["STATUS_BUFFER_OVERFLOW", "the buffer was too small and the data was cut"],
  0xC0000001: ["STATUS_UNSUCCESSFUL", "the operation failed for no stated reason"],
  0xC0000002: ["STATUS_NOT_IMPLEMENTED", "the operation is not implemented"],
  0xC0000005: ["STATUS_ACCESS_VIOLATION", "memory was accessed that is not there or not allowed"],
  0xC0000006: ["STATUS_IN_PAGE_ERROR", "a page could not be read in from disk"],
  0xC0000008: ["STATUS_INVALID_HANDLE", "a handle was not valid"],
  0xC000000D: ["STATUS_INVALID_PARAMETER", "an argument was not valid"],
  0xC000000E: ["STATUS_NO_SUCH_DEVICE", "the device does not exist"],
  0xC000000F: ["STATUS_NO_SUCH_FILE", "the file does not exist"],
  0xC0000010: ["STATUS_INVALID_DEVICE_REQUEST", "the device does not support the request"],
  0xC0000017: ["STATUS_NO_MEMORY", "no memory was left"],
  0xC000001C: ["STATUS_INVALID_SYSTEM_SERVICE", "a system call was made that does not exist"],
  0xC000001D: ["STATUS_ILLEGAL_INSTRUCTION", "the processor met an instruction that it does not know"],
  0xC0000022: ["STATUS_ACCESS_DENIED", "access was refused"],
  0xC0000025: ["STATUS_NONCONTINUABLE_EXCEPTION", "execution went on after an exception that forbids it"],
  0xC0000026: ["STATUS_INVALID_DISPOSITION", "an exception handler gave an invalid answer"],
  0xC0000028: ["STATUS_BAD_STACK", "the stack was invalid or out of line during an unwind"],
  0xC0000032: ["STATUS_DISK_CORRUPT_ERROR", "the file system on the disk is damaged"],
  0xC0000034: ["STATUS_OBJECT_NAME_NOT_FOUND", "no object has that name"],
  0xC000003A: ["STATUS_OBJECT_PATH_NOT_FOUND", "no object has that path"],
  0xC0000043: ["STATUS_SHARING_VIOLATION", "the file is in use in a way that excludes this use"],
  0xC000007B: ["STATUS_INVALID_IMAGE_FORMAT", "the program file is damaged or of a wrong kind"],
  0xC000007F: ["STATUS_DISK_FULL", "the disk is full"],
  0xC000008C: ["STATUS_ARRAY_BOUNDS_EXCEEDED", "an array index was out of bounds"],
  0xC000008E: ["STATUS_FLOAT_DIVIDE_BY_ZERO", "a floating-point number was divided by zero"],
  0xC0000090: ["STATUS_FLOAT_INVALID_OPERATION", "a floating-point operation was not valid"],
  0xC0000094: ["STATUS_INTEGER_DIVIDE_BY_ZERO", "an integer was divided by zero"],
  0xC0000095: ["STATUS_INTEGER_OVERFLOW", "an integer result did not fit"],
  0xC0000096: ["STATUS_PRIVILEGED_INSTRUCTION", "an instruction was not allowed in this processor mode"],
  0xC000009A: ["STATUS_INSUFFICIENT_RESOURCES", "pool memory or another resource ran out"],
  0xC000009C: ["STATUS_DEVICE_DATA_ERROR", "the device could not read its data, as from a bad sector"],
  0xC000009D: ["STATUS_DEVICE_NOT_CONNECTED", "the device is not connected, as with a loose cable"],
  0xC00000A1: ["STATUS_WORKING_SET_QUOTA", "the working set is too small for the request"],
  0xC00000B5: ["STATUS_IO_TIMEOUT", "the device did not answer in time"],
  0xC00000BB: ["STATUS_NOT_SUPPORTED", "the request is not supported"],
  0xC00000E9: ["STATUS_UNEXPECTED_IO_ERROR", "an I/O error occurred that nobody expected"],
  0xC00000FD: ["STATUS_STACK_OVERFLOW", "the stack ran out"],
  0xC0000102: ["STATUS_FILE_CORRUPT_ERROR", "the file or folder is damaged"],
  0xC000010A: ["STATUS_PROCESS_IS_TERMINATING", "the process is ending"],
  0xC0000120: ["STATUS_CANCELLED", "the request was cancelled"],
  0xC000012D: ["STATUS_COMMITMENT_LIMIT", "the page file is too small for the memory asked for"],
  0xC0000135: ["STATUS_DLL_NOT_FOUND", "a library was not found"],
  0xC0000142: ["STATUS_DLL_INIT_FAILED", "a library could not be initialized"],
  0xC000014C: ["STATUS_REGISTRY_CORRUPT", "the registry is damaged"],
  0xC000014F: ["STATUS_UNRECOGNIZED_VOLUME", "no file system recognizes the volume"],
  0xC000016A: ["STATUS_DISK_OPERATION_FAILED", "a disk operation failed after retries"],
  0xC0000185: ["STATUS_IO_DEVICE_ERROR", "the device reported an I/O error"],
  0xC000021A: ["STATUS_SYSTEM_PROCESS_TERMINATED", "a process that Windows depends on ended"],
  0xC0000218: ["STATUS_CANNOT_LOAD_REGISTRY_FILE", "a registry file could not be loaded"],
  0xC0000221: ["STATUS_IMAGE_CHECKSUM_MISMATCH", "a program file has a wrong checksum"],
  0xC0000225: ["STATUS_NOT_FOUND", "the thing looked for was not found"],
  0xC0000264: ["STATUS_RESOURCE_NOT_OWNED", "a resource was released by a thread that does not own it"],
  0xC0000374: ["STATUS_HEAP_CORRUPTION", "a heap is damaged"],
  0xC0000409: [
    "STATUS_STACK_BUFFER_OVERRUN",
    "a security check failed and the code stopped itself (fast fail)",
  ],
  0xC000041D: ["STATUS_FATAL_USER_CALLBACK_EXCEPTION", "a callback to user mode raised an exception"],
  0xC0000420: ["STATUS_ASSERTION_FAILURE", "an assertion failed"],
  0xC0000428: ["STATUS_INVALID_IMAGE_HASH", "the signature of a program file could not be verified"],
  0xC0000602: ["STATUS_FAIL_FAST_EXCEPTION", "the code stopped itself with a fail-fast exception"],
};

/** The name and meaning of a 32-bit NTSTATUS, signed or unsigned; null when this list does not have it. */
export function nameStatus(value: number): StatusName | null {
  const entry = Number.isInteger(value) && value >= -0x80000000 ? STATUS_NAMES[value >>> 0] : undefined;
  if (entry === undefined || value > 0xFFFFFFFF) return null;
  const [name, meaning] = entry;
  return { name, meaning };
}
