/** Bug checks 0xC5 to 0xFF; `parse_table.ts` says how a table is written. */
export const TABLE = `
0xC5 DRIVER_CORRUPTED_EXPOOL | A driver damaged system pool and the memory manager touched the damage at raised IRQL
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
0xC6 DRIVER_CAUGHT_MODIFYING_FREED_POOL | A driver touched pool memory that had been freed
  arguments | Address that was referenced | Kind of access | Processor mode | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
  value 3 = 0x0 | kernel
  value 3 = 0x1 | user
0xC7 TIMER_OR_DPC_INVALID | A timer or DPC was found in memory where it must not be, as in freed or unloaded memory, or a DPC changed thread state
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | timer object inside memory being freed | Timer | Start of the range | End of the range
  when 1 = 0x1 | DPC object inside memory being freed | DPC | Start of the range | End of the range
  when 1 = 0x2 | DPC routine inside memory being freed | DPC routine | Start of the range | End of the range
  when 1 = 0x3 | DPC names a processor that does not exist | DPC | Processor number | Processors in the system
  when 1 = 0x4 | DPC routine changed the APC disable count | DPC routine | Count before | Count after
  when 1 = 0x5 | timer DPC routine changed the APC disable count | DPC routine | Count before | Count after
0xC8 IRQL_UNEXPECTED_VALUE | The processor's IRQL was not what the kernel expected at this point
  arguments | Packed: current IRQL (bits 16 up), expected IRQL (bits 8 to 15), place (bits 0 to 7) | Kernel routine of the APC, or zero | APC, or zero | Normal routine of the APC, or zero
0xC9 DRIVER_VERIFIER_IOMANAGER_VIOLATION | Driver Verifier caught a driver that handles I/O requests wrongly
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | object freed that is not an IRP | IRP being freed | Zero | Zero
  when 1 = 0x2 | IRP freed that is still tied to a thread | IRP being freed | Zero | Zero
  when 1 = 0x3 | IoCallDriver called with something that is not an IRP | IRP being sent | Zero | Zero
  when 1 = 0x4 | IoCallDriver called with an invalid device object | Device object | Zero | Zero
  when 1 = 0x5 | dispatch routine changed the IRQL | Device object | IRQL before | IRQL after
  when 1 = 0x6 | IRP completed with status pending or -1 | $IRP status | IRP | Zero
  when 1 = 0x7 | IRP completed with its cancel routine set | Cancel routine | IRP | Zero
  when 1 = 0x8 | asynchronous request built with an invalid buffer | Device object | Major function | $Exception status
  when 1 = 0x9 | device control request built with an invalid buffer | Device object | Control code | $Exception status
  when 1 = 0xA | I/O timer initialized twice | Device object | Zero | Zero
  when 1 = 0xC | status block lies on a stack that has been unwound | Status block | Zero | Zero
  when 1 = 0xD | user event lies on a stack that has been unwound | Event | Zero | Zero
  when 1 = 0xE | IRP completed above DISPATCH_LEVEL | Current IRQL | IRP | Zero
  when 1 = 0xF | create request sent for a closed or canceled file | Device object | IRP | File object
  when 1 = 0x10 | IoCallDriver called above DISPATCH_LEVEL | Current IRQL | Reserved | Reserved
  when 1 = 0x11 | fast I/O routine changed the IRQL | Fast I/O routine | IRQL before | Current IRQL
  when 1 = 0x12 | dispatch routine changed the IRQL | Dispatch routine | IRQL before | Current IRQL
  when 1 = 0x200 | unknown I/O verification error | Place in the driver | IRP | Device object
  when 1 = 0x201 | device deleted while another is still beneath it | Place in the driver | IRP | Device object
  when 1 = 0x202 | detach from a device that has nothing attached | Place in the driver | IRP | Device object
  when 1 = 0x203 | IRP passed on with a cancel routine set | Place in the driver | IRP | Device object
  when 1 = 0x204 | IRP sent to a null device | Place in the driver | IRP | Device object
  when 1 = 0x205 | IRP passed on that is still queued below | Place in the driver | IRP | Device object
  when 1 = 0x206 | IRP passed on with a control field that is not zero | Place in the driver | IRP | Device object
  when 1 = 0x207 | completion routine of the upper driver copied along | Place in the driver | IRP | Device object
  when 1 = 0x208 | IRP is about to run out of stack locations | Place in the driver | IRP | Device object
  when 1 = 0x209 | IRP completed that is still queued below | Place in the driver | IRP | Device object
  when 1 = 0x20A, 0x20B | IRP freed that is still in use | Place in the driver | IRP | Device object
  when 1 = 0x20C | IRP freed that is still queued to a thread | Place in the driver | IRP | Device object
  when 1 = 0x20D | allocated IRP initialized again | Place in the driver | IRP | Device object
  when 1 = 0x20E | plug and play IRP with a wrong initial status | Place in the driver | IRP | Device object
  when 1 = 0x20F | power IRP with a wrong initial status | Place in the driver | IRP | Device object
  when 1 = 0x210 | WMI IRP with a wrong initial status | Place in the driver | IRP | Device object
  when 1 = 0x211 | IRP skipped a device object in the stack | Place in the driver | IRP | Device object
  when 1 = 0x212 | stack of the IRP damaged or copied wrongly | Place in the driver | IRP | Device object
  when 1 = 0x213 | status changed of an IRP the driver does not handle | Place in the driver | IRP | Device object
  when 1 = 0x214 | information changed of an IRP the driver does not handle | Place in the driver | IRP | Device object
0xCA PNP_DETECTED_FATAL_ERROR | The plug and play manager met a severe error, probably from a faulty bus or device driver
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | two devices with the same identifiers reported | New device object | Older device object | Reserved
  when 1 = 0x2 | object passed that is not a physical device object | Object passed | Driver object | Reserved
  when 1 = 0x3 | device identifier has bad characters or no end | Physical device object | Identifier buffer | Kind of identifier: 1 device, 2 unique, 3 hardware, 4 compatible
  when 1 = 0x4 | deleted device reported again | Physical device object | Reserved | Reserved
  when 1 = 0x5 | device object freed while still in the device tree | Physical device object | Reserved | Reserved
  when 1 = 0x8 | null device reported on a bus | Physical device object of the bus | Devices reported | Index of the first null entry
  when 1 = 0x9 | interrupt disconnected with an invalid connection type | Connection type | Reserved | Reserved
  when 1 = 0xA | notification callback changed IRQL or APC state | Driver object | IRQL after | APC disable count after
  when 1 = 0xB | deleted device reported as a removal relation | Physical device object | Removal relations | Reserved
0xCB DRIVER_LEFT_LOCKED_PAGES_IN_PROCESS | A driver did not unlock pages after an I/O operation and lock tracking was on
  arguments | Place in the driver that locked the pages (dispatch routine when the I/O manager did) | Caller of that place (device object when the I/O manager locked the pages) | MDL of the locked pages | Pages locked
0xCC PAGE_FAULT_IN_FREED_SPECIAL_POOL | The system touched memory in special pool that had been freed
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xCD PAGE_FAULT_BEYOND_END_OF_ALLOCATION | The system touched memory past the end of a driver's pool block
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xCE DRIVER_UNLOADED_WITHOUT_CANCELLING_PENDING_OPERATIONS | A driver was unloaded with timers, DPCs, worker threads or lookaside lists still pending
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xCF TERMINAL_SERVER_DRIVER_MADE_INCORRECT_MEMORY_REFERENCE | A driver not fit for terminal server touched memory of a session that was not current
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xD0 DRIVER_CORRUPTED_MMPOOL | A driver damaged the pool of the memory manager and the damage was touched at raised IRQL
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
0xD1 DRIVER_IRQL_NOT_LESS_OR_EQUAL | A driver touched pageable or invalid memory while the IRQL was too high to resolve the page fault
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
  value 3 = 0x2 | execute
  value 3 = 0x8 | execute
0xD2 BUGCODE_ID_DRIVER | NDIS met a problem with one of its drivers
0xD3 DRIVER_PORTION_MUST_BE_NONPAGED | A driver runs code or holds data at raised IRQL that it marked as pageable
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
0xD4 SYSTEM_SCAN_AT_RAISED_IRQL_CAUGHT_IMPROPER_DRIVER_UNLOAD | A driver was unloaded without cancelling its work and the system came across it at raised IRQL
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  page | bug-check-0xd4--system-scan-at-raised-irql-caught-improper-driver-unlo
  value 3 = 0x0 | read
  value 3 = 0x1 | write
0xD5 DRIVER_PAGE_FAULT_IN_FREED_SPECIAL_POOL | A driver touched memory in special pool that it had freed
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xD6 DRIVER_PAGE_FAULT_BEYOND_END_OF_ALLOCATION | A driver touched memory past the end of its pool block
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Reserved
  value 2 = 0x0 | read
  value 2 = 0x1 | write
0xD7 DRIVER_UNMAPPING_INVALID_VIEW | A driver tried to unmap an address that is not a mapped view
  arguments | Address to be unmapped | What was attempted | Zero | Zero
  value 2 = 0x1 | unmap of the view
  value 2 = 0x2 | commit of the view
0xD8 DRIVER_USED_EXCESSIVE_PTES | A driver used so many system page table entries that none are left
  arguments | Name of the driver | Entries used by the driver | Free system page table entries | System page table entries in all
0xD9 LOCKED_PAGES_TRACKER_CORRUPTION | The structures that track locked pages are damaged
  arguments | Kind of damage | - | - | -
  when 1 = 0x1 | same MDL entered twice for a process | Internal lock tracking structure | MDL | Pages locked in the process
  when 1 = 0x2 | same MDL entered twice in the system list | Internal lock tracking structure | MDL | Pages locked in the process
  when 1 = 0x3 | MDL found twice when freed | First tracking structure found | Internal lock tracking structure | MDL
  when 1 = 0x4 | MDL still in the system list after its removal | Internal lock tracking structure | MDL | Zero
0xDA SYSTEM_PTE_MISUSE | A routine for system page table entries was used in a wrong way
  arguments | Kind of misuse | - | - | -
  when 1 = 0x1 | mapping being freed is a duplicate | Lock tracking structure | MDL | Duplicate tracking structure
  when 1 = 0x2 | number of mappings being freed is wrong | Lock tracking structure | Mappings expected | Mappings asked for
  when 1 = 0x3 | address being freed is wrong | First tracking structure found | Address expected | Address asked for
  when 1 = 0x4 | first page of the MDL changed since it was mapped | Lock tracking structure | Page frame expected | Page frame found
  when 1 = 0x5 | start address of the MDL changed since it was mapped | First tracking structure found | Address expected | Address asked for
  when 1 = 0x6 | MDL being freed is not mapped | MDL | Address asked for | Mappings asked for
  when 1 = 0x100 | zero mappings requested | Mappings requested | Tag of the caller | Routine that called the caller
  when 1 = 0x101 | mapping range freed by a stranger | First mapping address | Tag of the caller | Tag of the owner
  when 1 = 0x102 | mapping range being freed is empty | First mapping address | Tag of the caller | Reserved
  when 1 = 0x103 | mapping range being freed is still reserved | Invalid mapping | Tag of the caller | Mappings in the range
  when 1 = 0x104 | MDL mapped into a range of another owner | First mapping address | Tag of the caller | Tag of the owner
  when 1 = 0x105 | MDL mapped into an invalid range | First mapping address | Tag of the caller | Reserved
  when 1 = 0x107 | MDL mapped into a range that is not free | First mapping address | Mapping that is not empty | Last mapping address
  when 1 = 0x108 | range unmapped by a stranger | First mapping address | Tag of the caller | Tag of the owner
  when 1 = 0x109 | range being unmapped is empty | First mapping address | Tag of the caller | Reserved
  when 1 = 0x10A | more mappings unmapped than exist | First mapping address | Mappings that exist | Mappings to unmap
  when 1 = 0x10B | part being unmapped is not mapped | First mapping address | Tag of the caller | Mappings to unmap
  when 1 = 0x10C | range not unmapped as a whole | First mapping address | Tag of the caller | Mappings to unmap
  when 1 = 0x200 | range without mappings reserved | First mapping address | Zero | Zero
  when 1 = 0x201, 0x202 | mapping reserved twice | First mapping address | Mapping already reserved | Mappings to reserve
  when 1 = 0x300 | range without mappings released | First mapping address | Zero | Zero
  when 1 = 0x301 | mapping released that must not be | Address of the mapping | Zero | Zero
  when 1 = 0x302 | system address released that is not mapped | Address | Reserved | Reserved
  when 1 = 0x303 | range released that is not reserved | First mapping address | Mappings to release | Zero
  when 1 = 0x304 | range released that starts inside another allocation | First mapping address | Mappings to release | Zero
0xDB DRIVER_CORRUPTED_SYSPTES | A driver damaged system page table entries
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
0xDC DRIVER_INVALID_STACK_ACCESS | A driver touched a stack address below the stack pointer of the thread
0xDE POOL_CORRUPTION_IN_FILE_AREA | A driver damaged pool that holds pages bound for disk
0xDF IMPERSONATING_WORKER_THREAD | A worker thread came back from a work item while still impersonating a user
  arguments | Worker routine | Parameter of the work item | Work item | Reserved
0xE0 ACPI_BIOS_FATAL_ERROR | The firmware reported a fatal error through ACPI
0xE1 WORKER_THREAD_RETURNED_AT_BAD_IRQL | A worker thread came back from a work item at DISPATCH_LEVEL or above
  arguments | Worker routine | IRQL on return | Parameter of the work item | Work item
0xE2 MANUALLY_INITIATED_CRASH | Someone asked for this crash from the keyboard, the power button or a debugger
  arguments | Zero | Zero | Zero | Zero
0xE3 RESOURCE_NOT_OWNED | A thread released a resource that it does not own
  arguments | Resource | Thread | Owner table, if there is one | Reserved
0xE4 WORKER_INVALID | A work item was freed or queued while in use, or is not valid
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | active work item was freed | Work item | Start of the pool block | End of the pool block
  when 1 = 0x1 | active work item was queued | Work item | Queue number | Zero
  when 1 = 0x2 | queued I/O work item was freed | Work item | I/O worker routine | Zero
  when 1 = 0x3 | I/O work item initialized with an invalid object | Work item | Invalid object | Zero
  when 1 = 0x5 | work item queued before the queues were ready | Work item | Queue number | NUMA node, or -1 for all
  when 1 = 0x6 | invalid kind of queue | Work item | Queue number | Zero
  when 1 = 0x7 | work item with an invalid worker routine | Work item | Queue number | Zero
0xE6 DRIVER_VERIFIER_DMA_VIOLATION | A driver or device used direct memory access wrongly, found by Driver Verifier or the IOMMU
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | miscellaneous error | Detail: 1 too many bytes flushed, 2 too few contiguous map registers | Detail 1: bytes left in the MDL; 2: registers needed | Detail 1: bytes left to flush; 2: contiguous registers
  when 1 = 0x1 | performance counter went backwards | - | - | -
  when 1 = 0x2 | performance counter ran too fast | - | - | -
  when 1 = 0x3 | too many common buffers freed | Extra buffers freed | - | -
  when 1 = 0x4 | too many adapter channels freed | Extra channels freed | - | -
  when 1 = 0x5 | too many map registers freed | Extra registers freed | - | -
  when 1 = 0x6 | too many scatter/gather lists freed | Lists allocated | Lists freed | -
  when 1 = 0x7 | adapter released with common buffers left | DMA adapter | Buffers left | Verifier data
  when 1 = 0x8 | adapter released with channels left | DMA adapter | Channels left | Verifier data
  when 1 = 0x9 | adapter released with map registers left | DMA adapter | Registers left | Verifier data
  when 1 = 0xA | adapter released with scatter/gather lists left | DMA adapter | Lists left | Verifier data
  when 1 = 0xB | too many adapter channels at once | Channels in use | - | -
  when 1 = 0xC | too many map registers at once | Registers needed | Registers allowed | -
  when 1 = 0xD | adapter buffers not flushed | Bytes mapped | Bytes that can be mapped | -
  when 1 = 0xE | transfer from a buffer that is not locked | MDL of the buffer | - | -
  when 1 = 0xF | write outside the DMA buffer | Detail: 1 tag before, 2 tag after, 3 free register, 4 padding before, 5 padding after | - | -
  when 1 = 0x10 | map registers freed while still mapped | Registers still mapped | - | -
  when 1 = 0x11 | too many references to the adapter | References | DMA adapter | Verifier data
  when 1 = 0x13 | DMA routine called at a wrong IRQL | Detail: 1 not the expected IRQL, 2 too high | IRQL expected or allowed | Current IRQL
  when 1 = 0x14 | DMA routine called at a wrong IRQL | - | - | -
  when 1 = 0x15 | too many map registers allocated | Registers allocated | Registers allowed | -
  when 1 = 0x16 | buffer flushed that is not mapped | Address of the map register | Verifier data | -
  when 1 = 0x18 | adapter used after it was released | DMA adapter | Verifier data | -
  when 1 = 0x19 | null adapter passed | - | - | -
  when 1 = 0x1B | address outside its MDL passed | Address | MDL | -
  when 1 = 0x1D | range mapped that is already mapped | Start of the buffer | End of the buffer | Address already mapped
  when 1 = 0x1E | HalGetAdapter called, which is obsolete | - | - | -
  when 1 = 0x1F | invalid DMA buffer | Detail: 1 before the MDL, 2 after it, 3 crosses a page, 4 and 5 not cache aligned | - | -
  when 1 = 0x20 | map register flushed that is not mapped | Base of the map registers | Start of the buffer | MDL of the buffer
  when 1 = 0x21 | zero-length buffer mapped | Verifier data | - | -
  when 1 = 0x22 | buffer not mapped in system space | MDL | - | -
  when 1 = 0x23 | channel flushed before it finished | Detail | Controller | Channel
  when 1 = 0x24 | buffer too small for the length asked for | Length not covered | - | -
  when 1 = 0x25 | unknown version of the device description | - | - | -
  when 1 = 0x26 | IOMMU caught a forbidden access by a device | Device object | Fault information, usually the physical address | Kind of fault (hardware specific)
0xE7 INVALID_FLOATING_POINT_STATE | A saved floating-point state does not fit the thread or IRQL that restores it
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | flags of the saved context are invalid | Saved flags | Zero | Zero
  when 1 = 0x1 | saved IRQL differs from the current one | Saved IRQL | Current IRQL | Zero
  when 1 = 0x2 | saved context belongs to another thread | Saved thread | Current thread | Zero
0xE8 INVALID_CANCEL_OF_FILE_OPEN | An invalid file object was passed to cancel a file open
  arguments | File object | Device object | Reserved | Reserved
0xE9 ACTIVE_EX_WORKER_THREAD_TERMINATION | A worker thread of the executive is being ended, which must never happen
  arguments | Thread that ends | Reserved | Reserved | Reserved
0xEA THREAD_STUCK_IN_DEVICE_DRIVER | A thread in a device driver spins without end, usually a display driver waiting for hardware
  arguments | Stuck thread | Watchdog object | Name of the driver | In a debugger: times this check was hit, else 1
0xEB DIRTY_MAPPED_PAGES_CONGESTION | No free pages are left because dirty mapped pages could not be written out
  arguments | Dirty pages in all | Dirty pages bound for the page file | Reserved (Server 2003: nonpaged pool available, in pages) | Status of the latest failed page write (Server 2003: stranded pages)
0xEC SESSION_HAS_VALID_SPECIAL_POOL_ON_EXIT | A user session ended with special pool memory still allocated by a session driver
0xED UNMOUNTABLE_BOOT_VOLUME | The volume with Windows could not be mounted at start
  arguments | Device object that could not be mounted | $Status from the file system | Zero | Zero
0xEF CRITICAL_PROCESS_DIED | A process that Windows cannot run without ended or was killed
  arguments | Process object | What died | Reserved | Reserved
  value 2 = 0x0 | process
  value 2 = 0x1 | thread
0xF0 STORAGE_MINIPORT_ERROR | A storage miniport driver met an error
0xF1 SCSI_VERIFIER_DETECTED_VIOLATION | Driver Verifier caught a storage port or miniport driver in an error
  arguments | Kind of violation | - | - | -
  when 1 = 0x1000 | bad arguments to ScsiPortInitialize | First argument | Second argument | Reserved
  when 1 = 0x1001, 0x2001 | stall longer than allowed | Microseconds of the stall | Reserved | Reserved
  when 1 = 0x1002 | miniport routine ran too long | Routine | Device extension of the miniport | Microseconds it ran
  when 1 = 0x1003 | request completed more than once | Device extension of the miniport | Request block | Reserved
  when 1 = 0x1004 | request completed with an invalid status | Request block | Device extension of the miniport | Reserved
  when 1 = 0x1005 | next request asked for while an untagged one is active | Device extension of the miniport | Logical unit extension | Reserved
  when 1 = 0x1006 | invalid address passed to ScsiPortGetPhysicalAddress | Device extension of the miniport | Invalid address | Reserved
  when 1 = 0x1007 | requests still outstanding after a bus reset | Adapter extension | Device extension of the miniport | Reserved
  when 1 = 0x2002 | uncached extension asked for in the wrong place | Reserved | Reserved | Reserved
  when 1 = 0x2003 | invalid address passed to StorPortGetDeviceBase | Reserved | Reserved | Reserved
  when 1 = 0x2004 | request completed more than once | Reserved | Reserved | Reserved
  when 1 = 0x2005 | register or port access outside the mapped range | Reserved | Reserved | Reserved
0xF2 HARDWARE_INTERRUPT_STORM | A device raises interrupts without end because no driver quiets it
  arguments | Interrupt routine, or the first of a chain | Context of the interrupt routine | Interrupt object | How the routine is connected
  value 4 = 0x1 | alone
  value 4 = 0x2 | in a chain, so it may not be the culprit
0xF3 DISORDERLY_SHUTDOWN | Windows could not shut down because memory ran out
  arguments | Dirty pages in all | Dirty pages bound for the page file | Reserved (Server 2003: nonpaged pool available, in pages) | Status of the latest failed page write (Server 2003: stage of the shutdown)
0xF4 CRITICAL_OBJECT_TERMINATION | A process or thread that Windows cannot run without ended
  arguments | What ended | Object that ended | Image name of the process | Text that explains the stop
  value 1 = 0x3 | process
  value 1 = 0x6 | thread
0xF5 FLTMGR_FILE_SYSTEM | The filter manager or a minifilter driver met an error that cannot be handled
  arguments | Kind of violation | - | - | -
  when 1 = 0x66 | minifilter asked for a post-operation callback that it did not register | Callback data | Zero | Zero
  when 1 = 0x67 | internal object ran out of space | Callback data | Zero | $Status of the operation
  when 1 = 0x68 | file name information dereferenced too often | Reserved | FLT_FILE_NAME_INFORMATION | Reserved
  when 1 = 0x6A | open could not be cancelled because handles exist | File object | Zero | Zero
  when 1 = 0x6B | reserve request has an invalid state | Frame | Zero | Thread
  when 1 = 0x6C | too many nested page faults on a reserve request | Frame | List of reserve requests | Thread
  when 1 = 0x6D | context dereferenced too often | Context | CONTEXT_NODE | Zero
  when 1 = 0x6E | context referenced after it was freed | Context | CONTEXT_NODE | Zero
0xF6 PCI_VERIFIER_DETECTED_VIOLATION | Driver Verifier caught an error of a device or firmware on the PCI bus
0xF7 DRIVER_OVERRAN_STACK_BUFFER | A driver wrote past a buffer on its stack and damaged the security cookie
  arguments | Cookie found | Cookie expected | Complement of the expected cookie | Zero
0xF8 RAMDISK_BOOT_INITIALIZATION_FAILED | The RAM disk to start from could not be initialized
  arguments | Step that failed | $Status of the failure | Zero | Zero
  value 1 = 0x1 | no loader descriptor found
  value 1 = 0x2 | RAM disk driver could not be opened
  value 1 = 0x3 | RAM disk could not be created
  value 1 = 0x4 | identifier could not be turned into text
  value 1 = 0x5 | symbolic link could not be created
0xF9 DRIVER_RETURNED_STATUS_REPARSE_FOR_VOLUME_OPEN | A driver answered the open of a volume with a request to try another name
  arguments | Device object opened | Device object that got the request | New name of the file | Information that the driver returned
0xFA HTTP_DRIVER_CORRUPTED | The HTTP driver found its structures damaged
  page | bug-check-0xfa---http-driver-corrupted
0xFC ATTEMPTED_EXECUTE_OF_NOEXECUTE_MEMORY | A driver tried to execute memory that is marked as not executable
  arguments | Address of the attempted execution | Contents of the page table entry | Reserved | Reserved
  page | bug-check-0xfc---attempted-execute-of-noexecute-memory
0xFD DIRTY_NOWRITE_PAGES_CONGESTION | No free pages are left because dirty pages are marked as not to be written
  page | bug-check-0xfd---dirty-nowrite-pages-congestion
  arguments | Dirty pages in all | Dirty pages that must not be written | Reserved | $Status of the latest failed page write
0xFE BUGCODE_USB_DRIVER | A USB driver met an error
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | internal error of the USB stack | Reserved | Reserved | Reserved
  when 1 = 0x2 | request block sent that is still attached to a pending IRP | Pending IRP | IRP passed in | Request block
  when 1 = 0x3 | USB miniport asked for the stop, usually after a hardware failure | Reserved | Reserved | Reserved
  when 1 = 0x4 | IRP sent that is already pending | IRP | Request block | Reserved
  when 1 = 0x5 | bad physical address found in a hardware structure | Device extension of the controller | PCI vendor and product | Endpoint data
  when 1 = 0x6 | internal object is damaged | Object | Signature expected | Reserved
  when 1 = 0x7 | see the message text | Debug log of usbport.sys | Message text | File name
  when 1 = 0x8 | error of the hub driver | Detail: 2 unexpected IRP, 4 device trap, 6 timeout | - | -
0xFF RESERVE_QUEUE_OVERFLOW | A reserve queue got more entries than it has room for
  page | bug-check-0xff---reserve-queue-overflow
  arguments | Address of the queue | Size of the queue | Zero | Zero
`;
