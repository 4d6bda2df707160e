/**
 * Finds the driver that holds a power request, for bug check 0x9F with a first argument of 3: by the objects that
 * the request leads to, since the stack shows only who noticed. Offsets are of the public 64-bit structures.
 */

import type { VirtualMemory } from "../memory/virtual.ts";
import type { LoadedModule, ModuleList } from "../modules.ts";
import type { BugCheck } from "../session.ts";
import { plainCode } from "./argument_addresses.ts";

/** The driver and the way to it. */
export interface BlockingDriver {
  readonly module: LoadedModule;
  /** `\Driver\evil`; null when it is not in the dump. */
  readonly driverName: string | null;
  /** Major and minor function of the request that is held. */
  readonly request: { readonly major: number; readonly minor: number };
}

const POWER_STATE_FAILURE = 0x9F;
const DEVICE_HOLDS_REQUEST = 3n;
const CURRENT_STACK_LOCATION = 0xB8n;
const DEVICE_OBJECT = 0x28n;
const DRIVER_OBJECT = 8n;
const DRIVER_START = 0x18n;
const DRIVER_NAME = 0x38n;

/** The driver whose device holds the request; null for other bug checks and when the way is not in the dump. */
export function findBlockingDriver(
  memory: VirtualMemory,
  modules: ModuleList,
  bugCheck: BugCheck,
): BlockingDriver | null {
  const [first, , , request] = bugCheck.parameters;
  if (plainCode(bugCheck.code) !== POWER_STATE_FAILURE || first !== DEVICE_HOLDS_REQUEST) return null;
  if (memory.bits !== 64) return null;
  const location = memory.pointer(request + CURRENT_STACK_LOCATION);
  const device = location === undefined ? undefined : memory.pointer(location + DEVICE_OBJECT);
  const driver = device === undefined ? undefined : memory.pointer(device + DRIVER_OBJECT);
  const start = driver === undefined ? undefined : memory.pointer(driver + DRIVER_START);
  if (location === undefined || driver === undefined || start === undefined) return null;
  const module = modules.at(start);
  if (module === null) return null;
  return {
    module,
    driverName: readUnicodeString(memory, driver + DRIVER_NAME),
    request: { major: memory.u8(location) ?? 0, minor: memory.u8(location + 1n) ?? 0 },
  };
}

function readUnicodeString(memory: VirtualMemory, address: bigint): string | null {
  const length = memory.u16(address);
  const buffer = memory.pointer(address + 8n);
  return length === undefined || buffer === undefined ? null : memory.utf16(buffer, length) ?? null;
}
