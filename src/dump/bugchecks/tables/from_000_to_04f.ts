/** Bug checks 0x0 to 0x4F; `parse_table.ts` says how a table is written. */
export const TABLE = `
0x1 APC_INDEX_MISMATCH | A thread came back from a system call or worker routine with kernel APCs disabled or enabled a different number of times than it started with
  arguments | System call function or worker routine that was running | APC state index of the thread | APC disable counters: special in the high 16 bits, kernel in the low 16 bits | Kind of call
  value 4 = 0x0 | system call
  value 4 = 0x1 | worker routine
0x2 DEVICE_QUEUE_NOT_BUSY | A device queue that should have been busy was found idle
0x3 INVALID_AFFINITY_SET | A thread or process was given a processor affinity mask that is not allowed
0x4 INVALID_DATA_ACCESS_TRAP | The processor reported a data access trap that the kernel could not accept
0x5 INVALID_PROCESS_ATTACH_ATTEMPT | A thread tried to attach to a process while it must not, usually because it is attached to another one or runs a DPC
  arguments | Process that was to be attached to | Process that the thread is already attached to | APC state index of the thread | Nonzero when a DPC is running on this processor
0x6 INVALID_PROCESS_DETACH_ATTEMPT | A thread left a process that it had attached to in a wrong state or from a wrong context
0x7 INVALID_SOFTWARE_INTERRUPT | A software interrupt was requested at a level that does not exist
0x8 IRQL_NOT_DISPATCH_LEVEL | Code that must run at DISPATCH_LEVEL was entered at another IRQL
0x9 IRQL_NOT_GREATER_OR_EQUAL | Code was entered at an IRQL lower than it requires
0xA IRQL_NOT_LESS_OR_EQUAL | Kernel code touched pageable or invalid memory while the IRQL was too high to resolve the page fault
  arguments | Address that was referenced | IRQL at the time of the reference | Kind of access | Instruction that made the reference
  value 3 = 0x0 | read
  value 3 = 0x1 | write
  value 3 = 0x8 | execute
0xB NO_EXCEPTION_HANDLING_SUPPORT | Exception handling is not available for the exception that was raised
0xC MAXIMUM_WAIT_OBJECTS_EXCEEDED | A thread asked to wait on more objects than one wait allows
0xD MUTEX_LEVEL_NUMBER_VIOLATION | Mutexes were acquired out of the order that their levels demand
0xE NO_USER_MODE_CONTEXT | A return to user mode was attempted for a thread that has no user-mode context
0xF SPIN_LOCK_ALREADY_OWNED | A spin lock was requested by the processor that already holds it
0x10 SPIN_LOCK_NOT_OWNED | A spin lock was released that was not held
0x11 THREAD_NOT_MUTEX_OWNER | A thread released a mutex that belongs to another thread
0x12 TRAP_CAUSE_UNKNOWN | The processor took a trap whose cause the kernel could not identify
0x13 EMPTY_THREAD_REAPER_LIST | The thread reaper ran although its list of ended threads was empty
0x14 CREATE_DELETE_LOCK_NOT_LOCKED | The lock that guards creation and deletion was expected to be held and was not
0x15 LAST_CHANCE_CALLED_FROM_KMODE | The last-chance exception service was called from kernel mode
0x16 CID_HANDLE_CREATION | A handle for a process or thread identifier could not be created
0x17 CID_HANDLE_DELETION | A handle for a process or thread identifier could not be deleted
0x18 REFERENCE_BY_POINTER | The reference count of an object is wrong for its state, usually one dereference too many
  arguments | Type of the object whose count is lowered | Object whose count is lowered | Reserved | Reserved
0x19 BAD_POOL_HEADER | The header of a pool block is damaged, usually by a driver that wrote outside its own allocation
  arguments | Kind of damage | - | - | -
  when 1 = 0x2 | special pool pattern check failed, so the owner has probably damaged the block | Pool entry under check | Size of the pool block | Zero
  when 1 = 0x3 | pool free list is damaged; arguments 2, 3 and 4 should be equal | Pool entry under check | Forward link read back | Backward link read back
  when 1 = 0x5 | headers of two neighbouring pool entries contradict each other | One of the entries | Reserved | The other entry
  when 1 = 0x6 | previous-size field of the header is too large | Entry that was computed wrongly | Reserved | Bad entry that misled the computation
  when 1 = 0x7 | block size in the header is damaged | Zero | Reserved | Bad pool entry
  when 1 = 0x8 | block size in the header is zero | Zero | Reserved | Bad pool entry
  when 1 = 0x9 | block size in the header is damaged and too large | Entry that was computed wrongly | Reserved | Bad entry that misled the computation
  when 1 = 0xA | block size in the header is damaged | Pool entry that was looked for | Reserved | Page that should have held the entry
  when 1 = 0xD, 0xE, 0xF, 0x23, 0x24, 0x25 | header of a freed block was changed after the free, often by an overrun of the block before it | Reserved | Reserved | Reserved
  when 1 = 0x20 | block size in the header is damaged | Pool entry that was looked for | Next pool entry | Reserved
  when 1 = 0x21 | data after the block being freed is damaged, so the block was probably overrun | Pool address being freed | Bytes allocated for the block | Damaged value found after the block
  when 1 = 0x22 | address being freed has no tracking entry: freed twice or never allocated | Address being freed | Reserved | Reserved
0x1A MEMORY_MANAGEMENT | The memory manager found damage or misuse of its own structures, often from bad RAM or a driver that wrote where it must not
  arguments | Kind of damage | - | - | -
  when 1 = 0x1 | reference count of a fork clone block is damaged (checked builds only) | - | - | -
  when 1 = 0x31 | image fix-up table or code stream is damaged, probably by hardware | - | - | -
  when 1 = 0x3F | page read back with a wrong CRC | Offset in the page file | CRC of the page | CRC that was expected
  when 1 = 0x403 | page table and page frame database disagree, probably by hardware | - | - | -
  when 1 = 0x404 | page frame and page table entry disagree while a system page was deleted | Expected page table entry | Contents of the page table entry | Page table entry named by the page frame
  when 1 = 0x411 | page table entry is damaged | Address of the page table entry | - | -
  when 1 = 0x777 | system cache address unlocked that is not locked | - | - | -
  when 1 = 0x778 | last system cache view, which must stay free, was used | - | - | -
  when 1 = 0x780, 0x781 | page table entries of a system cache view are damaged | - | - | -
  when 1 = 0x1000 | cached physical page was to be mapped uncached with bug check on failure requested | - | - | -
  when 1 = 0x1010 | pageable section unlocked that is not locked | - | - | -
  when 1 = 0x1233 | driver mapped a physical page that is not locked | Page frame number of the page | - | -
  when 1 = 0x1234 | pageable section to be locked does not exist | - | - | -
  when 1 = 0x1235 | MDL to be protected has an invalid mapping | - | - | -
  when 1 = 0x1236 | MDL holds physical pages that are not locked or not valid | Address of the MDL | Address of the invalid page frame number | Invalid page frame number
  when 1 = 0x1240 | MDL was built for an address range that is not resident | Address of the MDL | Address of the page table entry | -
  when 1 = 0x3300 | address being written is wrongly marked copy-on-write | Faulting address | Contents of the page table entry | -
  when 1 = 0x3451 | page table entries of a swapped-out kernel stack are damaged | - | - | -
  when 1 = 0x4477 | driver wrote to an unallocated user-space address of the system process | Address of the attempted write | - | -
  when 1 = 0x5003 | free list of a working set is damaged, probably by hardware | - | - | -
  when 1 = 0x5100 | allocation bitmap is damaged; an address in use was about to be given out again | - | - | -
  when 1 = 0x5200 | page on a free pool list was changed after it was freed or was overrun | Free pool block | Value found | Value expected
  when 1 = 0x8884 | two standby pages that should share a priority differ (Windows 7) | - | - | Differing priority values
  when 1 = 0x8888, 0x8889 | internal structures are damaged | - | - | -
  when 1 = 0x888A | internal structures are damaged, most likely a page table entry or page frame | - | - | -
  when 1 = 0x41283 | working set index in a page table entry is damaged | - | - | -
  when 1 = 0x41284 | page table entry or working set list is damaged | - | - | -
  when 1 = 0x41286 | pool address to be freed is invalid | - | - | -
  when 1 = 0x41287 | illegal page fault while the working set was locked | Referenced address | - | -
  when 1 = 0x41785 | working set list is damaged | - | - | -
  when 1 = 0x41790 | page table page is damaged | Page frame entry of the page table page (64-bit systems) | - | -
  when 1 = 0x41792 | page table entry is damaged | Address of the page table entry | Low part of the entry | High part of the entry
  when 1 = 0x61940 | page directory entry became invalid unexpectedly | - | - | -
  when 1 = 0x61941 | paging hierarchy is damaged | Address that caused the fault | - | -
  when 1 = 0x61946 | MDL being built is flawed, almost always by the caller of MmProbeAndLockPages | - | - | -
  when 1 = 0x61949 | I/O page frame node is missing | Page frame index | - | -
  when 1 = 0x3030303 | boot loader is broken (Itanium) | - | - | -
  when 1 = 0x3030308 | memory range to be removed is in use by the loader | Highest physical page | - | -
0x1B PFN_SHARE_COUNT | The share count of a physical page does not fit the page's state
0x1C PFN_REFERENCE_COUNT | The reference count of a physical page does not fit the page's state
0x1D NO_SPIN_LOCK_AVAILABLE | No spin lock could be handed out
0x1E KMODE_EXCEPTION_NOT_HANDLED | Kernel code raised an exception that no handler accepted
  arguments | $Exception code | Address where the exception occurred | First parameter of the exception | Second parameter of the exception
0x1F SHARED_RESOURCE_CONV_ERROR | A shared resource could not be converted between shared and exclusive use
0x20 KERNEL_APC_PENDING_DURING_EXIT | A thread ended while a kernel APC was still pending or APCs were disabled
  arguments | APC found pending | APC disable count of the thread | Current IRQL | Reserved
0x21 QUOTA_UNDERFLOW | A process got back more quota than it was charged, so quota charges and returns do not match
  arguments | Process that was charged | Type of the quota | Amount charged at first | Amount not yet returned
0x22 FILE_SYSTEM | A file system reported an unrecoverable error
0x23 FAT_FILE_SYSTEM | The FAT file system driver met an error that it could not handle
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Exception record when FatExceptionFilter is on the stack | Context record when FatExceptionFilter is on the stack | Reserved
0x24 NTFS_FILE_SYSTEM | The NTFS driver met an error that it could not handle, often from a damaged volume or failing disk
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Exception record when NtfsExceptionFilter is on the stack | Context record when NtfsExceptionFilter is on the stack | Reserved
0x25 NPFS_FILE_SYSTEM | The named pipe file system met an error that it could not handle
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Reserved | Reserved | Reserved
0x26 CDFS_FILE_SYSTEM | The CD-ROM file system driver met an error that it could not handle
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Exception record when CdExceptionFilter is on the stack | Context record when CdExceptionFilter is on the stack | Reserved
0x27 RDR_FILE_SYSTEM | The SMB redirector met an error that it could not handle
  arguments | Kind of problem (high 16 bits) and source line (low 16 bits) | Exception record when RxExceptionFilter is on the stack | Context record when RxExceptionFilter is on the stack | Reserved
  when 1 = 0xCA550000..0xCA55FFFF | =Kind of problem: cache support | Exception record when RxExceptionFilter is on the stack | Context record when RxExceptionFilter is on the stack | Reserved
  when 1 = 0xC1EE0000..0xC1EEFFFF | =Kind of problem: clean-up | Exception record when RxExceptionFilter is on the stack | Context record when RxExceptionFilter is on the stack | Reserved
  when 1 = 0xC10E0000..0xC10EFFFF | =Kind of problem: close | Exception record when RxExceptionFilter is on the stack | Context record when RxExceptionFilter is on the stack | Reserved
  when 1 = 0xBAAD0000..0xBAADFFFF | =Kind of problem: exception | Exception record when RxExceptionFilter is on the stack | Context record when RxExceptionFilter is on the stack | Reserved
0x28 CORRUPT_ACCESS_TOKEN | An access token is damaged
0x29 SECURITY_SYSTEM | The security system met an error that it could not handle
0x2A INCONSISTENT_IRP | An I/O request packet was found in a state that contradicts itself
  arguments | Address of the IRP | Reserved | Reserved | Reserved
0x2B PANIC_STACK_SWITCH | A kernel stack ran out and the processor switched to the panic stack
  arguments | Trap frame | Reserved | Reserved | Reserved
0x2C PORT_DRIVER_INTERNAL | A port driver met an internal error
0x2D SCSI_DISK_DRIVER_INTERNAL | The SCSI disk driver met an internal error
0x2E DATA_BUS_ERROR | The processor reported a bus error on data, usually failing memory or a driver that used a wrong address
  arguments | Virtual address that faulted | Physical address that faulted | Processor status register | Faulting instruction register
0x2F INSTRUCTION_BUS_ERROR | The processor reported a bus error while it fetched instructions
0x30 SET_OF_INVALID_CONTEXT | Code tried to set a stack pointer that lies below the current one, which would leave the valid stack
  arguments | New stack pointer | Old stack pointer | Trap frame | Zero
0x31 PHASE0_INITIALIZATION_FAILED | The first phase of kernel initialization failed
0x32 PHASE1_INITIALIZATION_FAILED | The second phase of kernel initialization failed
  arguments | $Status that ended the initialization | Reserved | Reserved | Reserved
0x33 UNEXPECTED_INITIALIZATION_CALL | Initialization code was called at a time when it must not run
0x34 CACHE_MANAGER | The cache manager met an error, often after nonpaged pool ran out
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Reserved | Reserved | Reserved
0x35 NO_MORE_IRP_STACK_LOCATIONS | A driver passed an I/O request on although it had no stack locations left
  arguments | Address of the IRP | Reserved | Reserved | Reserved
0x36 DEVICE_REFERENCE_COUNT_NOT_ZERO | A driver deleted a device object that was still referenced
  arguments | Address of the device object | Reserved | Reserved | Reserved
0x37 FLOPPY_INTERNAL_ERROR | The floppy disk driver met an internal error
0x38 SERIAL_DRIVER_INTERNAL | The serial port driver met an internal error
0x39 SYSTEM_EXIT_OWNED_MUTEX | A system thread ended while it owned a mutex
0x3A SYSTEM_UNWIND_PREVIOUS_USER | An unwind reached past the frame that called from user mode
0x3B SYSTEM_SERVICE_EXCEPTION | An exception occurred in kernel code that was serving a system call
  arguments | $Exception code | Instruction that raised the exception | Context record of the exception | Zero
0x3C INTERRUPT_UNWIND_ATTEMPTED | An unwind was attempted while an interrupt was being handled
0x3D INTERRUPT_EXCEPTION_NOT_HANDLED | An exception was raised inside an interrupt handler and nobody handled it
0x3E MULTIPROCESSOR_CONFIGURATION_NOT_SUPPORTED | The processors of this machine differ in a way that Windows does not support together
0x3F NO_MORE_SYSTEM_PTES | The system ran out of page table entries for system mappings
  arguments | Kind of entry | Number of entries requested | Free system page table entries | System page table entries in all
  value 1 = 0x0 | system space
  value 1 = 0x1 | nonpaged pool expansion
0x40 TARGET_MDL_TOO_SMALL | A driver passed an MDL that is too small for the range it should describe
0x41 MUST_SUCCEED_POOL_EMPTY | A pool request that must not fail could not be served
  arguments | Size of the request | Pages used by nonpaged pool | Nonpaged requests larger than a page | Pages available
0x42 ATDISK_DRIVER_INTERNAL | The ATDISK driver met an internal error
0x43 NO_SUCH_PARTITION | A partition that the system needs does not exist
0x44 MULTIPLE_IRP_COMPLETE_REQUESTS | A driver completed an I/O request that had already been completed
  arguments | Address of the IRP | Reserved | Reserved | Reserved
0x45 INSUFFICIENT_SYSTEM_MAP_REGS | There are not enough mapping registers for DMA
0x46 DEREF_UNKNOWN_LOGON_SESSION | A logon session that the system does not know was dereferenced
0x47 REF_UNKNOWN_LOGON_SESSION | A logon session that the system does not know was referenced
0x48 CANCEL_STATE_IN_COMPLETED_IRP | An I/O request was cancelled after it had been completed
  arguments | Address of the IRP | Cancel routine | Reserved | Reserved
0x49 PAGE_FAULT_WITH_INTERRUPTS_OFF | A page fault occurred while interrupts were disabled
0x4A IRQL_GT_ZERO_AT_SYSTEM_SERVICE | A thread returned from a system call to user mode at an IRQL above PASSIVE_LEVEL
  arguments | System call routine | Current IRQL | Zero | Zero
0x4B STREAMS_INTERNAL_ERROR | The STREAMS layer met an internal error
0x4C FATAL_UNHANDLED_HARD_ERROR | A fatal hard error was raised that nobody handled, as when a critical system process could not run
0x4D NO_PAGES_AVAILABLE | The system has no free pages left and cannot get any by writing dirty pages out
  arguments | Dirty pages in all | Dirty pages bound for the page file | Nonpaged pool available | $Status of the latest failed page write
0x4E PFN_LIST_CORRUPT | The list of physical page frames is damaged, usually by a bad MDL or an unlock done twice
  arguments | Kind of damage | - | - | -
  when 1 = 0x1 | list head is damaged | List head value | Pages available | Zero
  when 1 = 0x2 | list entry is damaged | Entry being removed | Highest physical page number | Reference count of the entry
  when 1 = 0x7 | driver unlocked a page more often than it locked it | Page frame number | Current share count | Zero
  when 1 = 0x8D | free page list is damaged, most likely by hardware | Page frame number in an inconsistent state | Zero | Zero
  when 1 = 0x8F | head of the free or zeroed list is damaged | New page number | Old page number | Zero
  when 1 = 0x99 | page table entry or page frame entry is damaged | Page frame number | Current page state | Zero
  when 1 = 0x9A | driver freed a page that is still locked for I/O | Page frame number | Current page state | Reference count of the entry
0x4F NDIS_INTERNAL_ERROR | NDIS met an internal error
`;
