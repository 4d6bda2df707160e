/** Bug checks 0xA0 to 0xC3; `parse_table.ts` says how a table is written. */
export const TABLE = `
0xA0 INTERNAL_POWER_ERROR | The power manager met a fatal error
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | error while handling a power IRP | Detail: 1 reference overrun, 2 to 4 inrush overrun, 5 passive-level device, 6 no IRP | Limit that was passed, or the target device | With detail 6: 0 system, 1 device power IRP
  when 1 = 0x2 | internal failure while handling a power event | Reserved | Reserved | Reserved
  when 1 = 0x3 | checksum of a hibernation context page is wrong | Expected checksum | Actual checksum | Line of the check
  when 1 = 0x4 | checksum of a page bound for the hibernation file is wrong | Expected checksum | Actual checksum | Line of the check
  when 1 = 0x5 | shutdown handler got an unknown code | Reserved | Reserved | Reserved
  when 1 = 0x7 | unhandled exception | Reserved | Reserved | Reserved
  when 1 = 0x8 | fatal error while handling a system power event | Always 0x100 | Device object | POWER_CHANNEL_SUMMARY
  when 1 = 0x9 | fatal error while preparing the hibernation file | $Status | Mirroring phase | Reserved
  when 1 = 0xA | stop on wake was asked for, for debugging | Moment: 0 at once, 1 after nonpageable devices, 2 after all devices | Reserved | Reserved
  when 1 = 0xB | hibernation file is too small | Size of the file | Progress before space ran out | Size of what was left to write
  when 1 = 0xC | dump stack could not be initialized | $Status | Dump stack context | Reserved
  when 1 = 0x101 | unhandled exception while handling a system power event | Reserved | Exception pointer | Reserved
  when 1 = 0x102 | hibernation buffer is not a whole number of pages | Reserved | DUMP_INITIALIZATION_CONTEXT | POP_HIBER_CONTEXT
  when 1 = 0x103 | working pages of hibernation do not add up | Reserved | POP_HIBER_CONTEXT | Reserved
  when 1 = 0x104 | hibernation memory mapped while its structures were locked | Reserved | POP_HIBER_CONTEXT | Reserved
  when 1 = 0x105 | hibernation memory mapped with an unsupported type | Reserved | POP_HIBER_CONTEXT | Reserved
  when 1 = 0x106 | MDL for hibernation is not page aligned | Reserved | Address of the MDL | Reserved
  when 1 = 0x107 | hibernation structures contradict each other | Reserved | POP_HIBER_CONTEXT | PO_MEMORY_RANGE_ARRAY
  when 1 = 0x108 | disk did not write part of the hibernation file | Reserved | POP_HIBER_CONTEXT | Reserved
  when 1 = 0x109 | checksum of the saved processor state is wrong | Reserved | Expected checksum | Actual checksum
  when 1 = 0x10A | disk did not read or write part of the hibernation file | Reserved | POP_HIBER_CONTEXT | $Status
  when 1 = 0x10B | pages marked for hibernation at a wrong time | Reserved | Hibernation progress | Reserved
  when 1 = 0x10C | PoSetHiberRange called with invalid arguments | Reserved | Flags passed | Length to mark
  when 1 = 0x200 | unknown kind of device in an idle check | Reserved | Device object | Power extension of the device object
  when 1 = 0x300 | battery power IRP returned an unknown status | Reserved | Device object | IRP
  when 1 = 0x301 | battery reached an unknown state | Reserved | Device object | IRP
  when 1 = 0x400 | device passed its limit of references | Reserved | I/O stack location | Device object
  when 1 = 0x401, 0x402, 0x403 | too many inrush power IRPs queued | Reserved | List of pending IRPs | Device object
  when 1 = 0x404 | power IRP sent to a passive-level device | Reserved | I/O stack location | Device object
  when 1 = 0x500 | thermal power IRP returned an unknown status | Reserved | IRP | Device object
  when 1 = 0x600 | driver registered twice with the runtime power framework | Physical device object | Reserved | Reserved
  when 1 = 0x601 | no power engine plug-in accepted the device | POP_FX_DEVICE | Registration of the plug-in | Reserved
  when 1 = 0x602 | sleep count of a device node does not match its activations | Device node | Sleep count | Reserved
  when 1 = 0x603 | power engine plug-in made an invalid request | POP_FX_PLUGIN | Kind of request | Reserved
  when 1 = 0x605 | power engine plug-in refused a mandatory notification | Notification | POP_FX_PLUGIN | Reserved
  when 1 = 0x606 | component set to the condition it already had | POP_FX_COMPONENT | Flags of the component | New condition
  when 1 = 0x607 | device removal lock could not be taken | POP_FX_DEVICE | $Status | Reserved
  when 1 = 0x608 | component made idle without an active request | POP_FX_COMPONENT | Flags of the component | Reserved
  when 1 = 0x609 | same device power request made twice | POP_FX_PLUGIN | POP_FX_DEVICE | Request: 0 power required, 1 power not required
  when 1 = 0x610 | power given up while a request for it is outstanding | POP_FX_PLUGIN | POP_FX_DEVICE | Reserved
  when 1 = 0x611 | operation on a component that does not exist | POP_FX_PLUGIN | POP_FX_DEVICE | Index of the component
0xA1 PCI_BUS_DRIVER_INTERNAL | The PCI bus driver found an inconsistency that it cannot continue with
0xA2 MEMORY_IMAGE_CORRUPT | An image held in memory is damaged
0xA3 ACPI_DRIVER_INTERNAL | The ACPI driver found an inconsistency inside itself
0xA4 CNSS_FILE_SYSTEM_FILTER | The CNSS file system filter met an error that it could not handle
0xA5 ACPI_BIOS_ERROR | The firmware does not follow the ACPI specification in a way that Windows can work with
  arguments | Kind of firmware fault | - | - | -
  value 1 = 0x1 | its interrupt is not among the resources given to ACPI
  value 1 = 0x11 | system could not enter ACPI mode
0xA7 BAD_EXHANDLE | The kernel found a damaged or invalid entry in a handle table
0xAB live SESSION_HAS_VALID_POOL_ON_EXIT | A user session ended with pool memory still allocated by a session driver
  arguments | Session identifier | Paged pool bytes left | Nonpaged pool bytes left | Allocations left: nonpaged in the high half, paged in the low half
0xAC HAL_MEMORY_ALLOCATION | The hardware abstraction layer could not get memory that it needs
0xAD VIDEO_DRIVER_DEBUG_REPORT_REQUEST | A video driver asked for a debug report of its own, which is not fatal
0xB1 BGI_DETECTED_VIOLATION | The BGI component found a violation
0xB4 VIDEO_DRIVER_INIT_FAILURE | The video driver could not be initialized, so there is no display to go on with
0xB8 ATTEMPTED_SWITCH_FROM_DPC | A DPC routine waited, attached to a process or yielded, which it must not do
  arguments | Original thread | New thread | Stack address of the original thread | Reserved
0xB9 CHIPSET_DETECTED_ERROR | The chipset reported an error
0xBA SESSION_HAS_VALID_VIEWS_ON_EXIT | A user session ended with views of sections still mapped by a session driver
  arguments | Session identifier | Views left mapped | Table of mapped views | Size of the table
0xBB NETWORK_BOOT_INITIALIZATION_FAILED | Start over the network failed
  arguments | Step that failed | $Status of the failure | Reserved | Reserved
  value 1 = 0x1 | update of the registry
  value 1 = 0x2 | start of the network stack
  value 1 = 0x3 | handing the address to TCP
0xBC NETWORK_BOOT_DUPLICATE_ADDRESS | Start over the network found its own address in use by another machine
  arguments | Network address as a hexadecimal number | - | - | -
0xBD INVALID_HIBERNATED_STATE | The saved hibernation state does not fit this machine
0xBE ATTEMPTED_WRITE_TO_READONLY_MEMORY | A driver tried to write to memory that is read-only
  arguments | Address of the attempted write | Contents of the page table entry | Reserved | Reserved
0xBF MUTEX_ALREADY_OWNED | A thread acquired a mutex that it already owns
  arguments | Address of the mutex | Thread at fault | Zero | Reserved
0xC1 SPECIAL_POOL_DETECTED_MEMORY_CORRUPTION | Special pool caught a driver that wrote outside or freed wrongly one of its blocks
  arguments | - | - | - | Kind of violation
  when 4 = 0x20 | freed pool that is not allocated | Address being freed | Reserved | Zero
  when 4 = 0x21, 0x22 | freed a bad address | Address being freed | Bytes requested | Bytes given
  when 4 = 0x23 | bytes near the block in its page are damaged | Address being freed | Address of the damage | Reserved
  when 4 = 0x24 | bytes after the end of the block were overwritten | Address being freed | Address of the damage | Reserved
  when 4 = 0x30 | allocated at a wrong IRQL | Current IRQL | Pool type | Bytes requested
  when 4 = 0x31 | freed at a wrong IRQL | Current IRQL | Pool type | Address being freed
  when 4 = 0x32 | single bit near the block is wrong | Address being freed | Address of the wrong bit | Reserved
0xC2 BAD_POOL_CALLER | A thread made a bad pool request: freed twice, freed a wrong address or asked at a wrong IRQL
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | allocation of zero bytes | Zero | Pool type | Pool tag
  when 1 = 0x1, 0x2, 0x4 | pool header is damaged | Pool header | First part of the header | Zero
  when 1 = 0x6 | block freed that is already free | Reserved | Pool header | Contents of the header
  when 1 = 0x7 | block freed that is already free | Reserved | Contents of the header | Address being freed
  when 1 = 0x8 | allocation at an invalid IRQL | Current IRQL | Pool type | Bytes requested
  when 1 = 0x9 | free at an invalid IRQL | Current IRQL | Pool type | Address of the block
  when 1 = 0xA | free with a wrong tag | Address of the block | Tag of the allocation | Tag used for the free
  when 1 = 0xB, 0xC, 0xD | quota released on a damaged block | Address of the block | Tag of the allocation | Bad quota process pointer
  when 1 = 0x40 | kernel pool freed at a user-mode address | Starting address | Start of system address space | Zero
  when 1 = 0x41 | free of a nonpaged address that is not allocated | Starting address | Physical page frame | Highest physical page frame
  when 1 = 0x42, 0x43 | free of an address that was never in any pool | Address being freed | Zero | Zero
  when 1 = 0x44 | free of a nonpaged address that is not allocated | Starting address | Reserved | Zero
  when 1 = 0x46 | free of an invalid pool address | Starting address | Zero | Zero
  when 1 = 0x47 | free of a nonpaged address that is not allocated | Starting address | Physical page frame | Highest physical page frame
  when 1 = 0x48 | free of a paged address that is not allocated | Starting address | Reserved | Reserved
  when 1 = 0x50 | free of a paged address that is not allocated | Starting address | Offset in pages from the start of paged pool | Size of paged pool in bytes
  when 1 = 0x60 | free of an invalid contiguous memory address | Starting address | Zero | Zero
  when 1 = 0x99 | free with an invalid address, or a damaged pool header | Address being freed | Zero | Zero
  when 1 = 0x9A | must-succeed allocation, which is no longer supported | Pool type | Bytes requested | Pool tag
  when 1 = 0x9B | allocation with tag zero | Pool type | Bytes requested | Address of the caller
  when 1 = 0x9C | allocation with the tag BIG | Pool type | Bytes requested | Address of the caller
  when 1 = 0x9D | allocation with a tag that has no letter or digit | Tag used | Pool type | Address of the caller
  when 1 = 0x41286 | free of a paged address inside an allocation | Reserved | Reserved | Offset in pages from the start of paged pool
`;
