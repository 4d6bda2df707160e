/** Bug checks 0x100 to 0x13F; `parse_table.ts` says how a table is written. */
export const TABLE = `
0x100 LOADER_BLOCK_MISMATCH | The loader's data block does not fit this kernel
  page | bug-check-0x100---loader-block-mismatch
  arguments | Always 3 | Size of the loader block extension | Major version of the loader block | Minor version of the loader block
0x101 CLOCK_WATCHDOG_TIMEOUT | A processor did not take its clock interrupt in time because it hangs or is deadlocked
  arguments | Timeout in clock ticks | Zero | Control block of the hung processor | -
  page | bug-check-0x101---clock-watchdog-timeout
0x102 DPC_WATCHDOG_TIMEOUT | The watchdog for DPCs expired
  arguments | Timeout in clock ticks | Control block of the hung processor | Reserved | Reserved
0x103 MUP_FILE_SYSTEM | The multiple UNC provider met invalid or unexpected data
  page | bug-check-0x103---mup-file-system
0x104 AGP_INVALID_ACCESS | The graphics processor wrote to memory beyond the graphics aperture
  arguments | Offset of the first damaged value in the aperture pages | Zero | Zero | Zero
  page | bug-check-0x104---agp-invalid-access
0x105 AGP_GART_CORRUPTION | The graphics aperture remapping table is damaged
  arguments | Base of the table | Offset of the damage | Base of the table's cached copy | Zero
  page | bug-check-0x105---agp-gart-corruption
0x106 AGP_ILLEGALLY_REPROGRAMMED | The graphics port's command register was changed without permission
  arguments | Command set at first | Command found | Zero | Zero
  page | bug-check-0x106---agp-illegally-reprogrammed
0x108 THIRD_PARTY_FILE_SYSTEM_FAILURE | A file system driver from another vendor met an error that it could not handle
  arguments | File system | Exception record | Context record | Reserved
  value 1 = 0x1 | Polyserve
0x109 CRITICAL_STRUCTURE_CORRUPTION | Kernel patch protection found that critical kernel code or data was changed, by a driver or by bad memory
  arguments | Reserved | Reserved | Reserved | What was changed
  page | bug-check-0x109---critical-structure-corruption
  value 4 = 0x0 | generic data
  value 4 = 0x1 | function code
  value 4 = 0x2 | interrupt dispatch table
  value 4 = 0x3 | global descriptor table
  value 4 = 0x4 | process list (type 1)
  value 4 = 0x5 | process list (type 2)
  value 4 = 0x6 | debug routine
  value 4 = 0x7 | critical model-specific register
  value 4 = 0x8 | object type
  value 4 = 0x9 | interrupt vector table
  value 4 = 0xA | system service function
  value 4 = 0xB | generic session data
  value 4 = 0xC | session function or its unwind data
  value 4 = 0xD | import table
  value 4 = 0xE | session import table
  value 4 = 0xF | Win32 callout
  value 4 = 0x10 | debug switch routine
  value 4 = 0x11 | IRP allocator
  value 4 = 0x12 | driver call dispatcher
  value 4 = 0x13 | IRP completion dispatcher
  value 4 = 0x14 | IRP deallocator
  value 4 = 0x15 | processor control register
  value 4 = 0x16 | floating-point control register
  value 4 = 0x17 | local APIC
  value 4 = 0x18 | kernel notification callout
  value 4 = 0x19 | loaded module list
  value 4 = 0x1A | process list (type 3)
  value 4 = 0x1B | process list (type 4)
  value 4 = 0x1C | driver object
  value 4 = 0x1D | executive callback object
  value 4 = 0x1E | module padding
  value 4 = 0x1F | protected process
  value 4 = 0x20 | generic data
  value 4 = 0x21 | page hash
  value 4 = 0x22 | session page hash
  value 4 = 0x23 | load configuration directory
  value 4 = 0x24 | inverted function table
  value 4 = 0x25 | session configuration
  value 4 = 0x26 | extended control register
  value 4 = 0x27 | pool (type 1)
  value 4 = 0x28 | pool (type 2)
  value 4 = 0x29 | pool (type 3)
  value 4 = 0x101 | pool in general
  value 4 = 0x102 | win32k.sys
0x10A APP_TAGGING_INITIALIZATION_FAILED | The application tagging component could not be initialized
  page | bug-check-0x10a---app-tagging-initialization-failed
0x10C FSRTL_EXTRA_CREATE_PARAMETER_VIOLATION | A list of extra create parameters was used against its rules
  page | bug-check-0x10c---fsrtl-extra-create-parameter-violation
0x10D WDF_VIOLATION | The driver framework caught a framework-based driver in an error
  arguments | Kind of violation | - | - | Reserved
  page | bug-check-0x10d---wdf-violation
  when 1 = 0x1 | power operation timed out | WDF_POWER_ROUTINE_TIMED_OUT_DATA | Reserved | Reserved
  when 1 = 0x2 | lock acquired that is already held | Reserved | Reserved | Reserved
  when 1 = 0x3 | request completed while its buffers are still referenced | WDFREQUEST handle | References left | Reserved
  when 1 = 0x4 | null passed where a value is needed | Reserved | Address of the caller | Reserved
  when 1 = 0x5 | handle of a wrong type passed | Handle | Reserved | Reserved
  when 1 = 0x6 | fatal error in the handling of a request | Detail: 1 no stack locations, 2 no IRP, 3 sent twice, 4 output too long | IRP, request handle or data block, by detail | Reserved
  when 1 = 0x7 | object deleted by dereference | Handle of the object | Reserved | Reserved
  when 1 = 0x8 | DMA transaction in a wrong state | Handle of the transaction | Reserved | Reserved
  when 1 = 0xA | fatal error with a request in a queue | WDF_QUEUE_FATAL_ERROR_DATA | Reserved | Reserved
  when 1 = 0xB | lock acquired or released wrongly | Handle | Detail: 0 object has no lock, 1 released by a stranger | Reserved
  when 1 = 0xC | second plug and play state change arrived during the first | WDFDEVICE handle | New IRP | Reserved
  when 1 = 0xD | power policy owner got a power IRP that it did not request | WDFDEVICE handle | Power IRP | Reserved
  when 1 = 0xE | callback returned at another IRQL | IRQL before | IRQL after | Reserved
  when 1 = 0xF | callback did not leave a critical region | Callback | Reserved | Reserved
0x10E VIDEO_MEMORY_MANAGEMENT_INTERNAL | The video memory manager met a state that it cannot recover from, usually through a faulty display driver
  arguments | Kind of violation | - | - | -
  page | bug-check-0x10e---video-memory-management-internal
  value 1 = 0x1 | rotation of a range that cannot rotate
  value 1 = 0x2 | process heap destroyed while not empty
  value 1 = 0x3 | unmap from an aperture segment failed
  value 1 = 0x4 | rotation that must succeed failed
  value 1 = 0x5 | deferred command failed
  value 1 = 0x6 | resources reallocated while an eviction is cancelled
  value 1 = 0x7 | invalid deferred free
  value 1 = 0x8 | split DMA buffer holds an invalid reference
  value 1 = 0x9 | eviction failed
  value 1 = 0xA | pinned allocation used wrongly
  value 1 = 0xB | invalid error code from BuildPagingBuffer
  value 1 = 0xC | resource leak in a segment
  value 1 = 0xD | segment used wrongly
  value 1 = 0xE | map into an aperture segment failed
  value 1 = 0xF | invalid error code from AcquireSwizzlingRange
  value 1 = 0x10 | invalid error code from ReleaseSwizzlingRange
  value 1 = 0x11 | aperture segment used wrongly
  value 1 = 0x12 | driver overflowed the DMA buffer
  value 1 = 0x13 | driver overflowed the private data buffer
  value 1 = 0x14 | purge of all segments failed
  value 1 = 0x15 | address descriptor freed while rotated
  value 1 = 0x16 | driver broke the guaranteed DMA buffer contract
  value 1 = 0x17 | system command failed
  value 1 = 0x18 | release of a pinned allocation failed
  value 1 = 0x19 | driver could not patch a DMA buffer
  value 1 = 0x1A | owner of a shared allocation was freed
  value 1 = 0x1B | aperture range released while in use
  value 1 = 0x25 | GPU wrote to an undefined part of the aperture
0x10F RESOURCE_MANAGER_EXCEPTION_NOT_HANDLED | The kernel transaction resource manager met an exception that no handler accepted
  page | bug-check-0x10f---resource-manager-exception-not-handled
0x111 RECURSIVE_NMI | A second non-maskable interrupt arrived while one was being handled
  page | bug-check-0x111---recursive-nmi
0x112 MSRPC_STATE_VIOLATION | The kernel RPC runtime found its state invalid
  page | bug-check-0x112---msrpc-state-violation
0x113 VIDEO_DXGKRNL_FATAL_ERROR | The DirectX graphics kernel found a violation that it cannot go on with
  page | bug-check-0x113---video-dxgkrnl-fatal-error
0x114 VIDEO_SHADOW_DRIVER_FATAL_ERROR | A shadow display driver met a fatal error
  page | bug-check-0x114---video-shadow-driver-fatal-error
0x115 AGP_INTERNAL | The accelerated graphics port driver met an internal error
  page | bug-check-0x115---agp-internal
0x116 VIDEO_TDR_FAILURE | The display driver did not respond and the attempt to reset it failed
  arguments | Recovery context, if available | Address inside the display driver | $Status of the last failed operation, if available | Internal data, if available
  page | bug-check-0x116---video-tdr-failure
0x117 VIDEO_TDR_TIMEOUT_DETECTED live VIDEO_TDR_TIMEOUT_DETECTED | The display driver did not respond in time
  arguments | Recovery context, if available | Address inside the display driver | Bucketing key of the driver | Internal data, if available
  page | bug-check-0x117---video-tdr-timeout-detected
  live | The display driver did not respond in time and was reset; the system went on
0x119 VIDEO_SCHEDULER_INTERNAL_ERROR | The video scheduler found a fatal violation, from the display driver or from damaged memory
  arguments | Kind of violation | - | - | -
  page | bug-check-0x119---video-scheduler-internal-error
  value 1 = 0x1 | driver reported an invalid fence
  value 1 = 0x2 | driver failed to submit a command
  value 1 = 0x3 | driver failed to patch the command buffer
  value 1 = 0x4 | driver reported an invalid flip capability
  value 1 = 0x5 | driver failed a system or paging command
  value 1 = 0x400 | internal state error
  value 1 = 0xE00 | no preallocated packets left for flips
  value 1 = 0x1000 | internal state error
  value 1 = 0x10000 | internal state error
0x11A EM_INITIALIZATION_FAILURE | The errata manager could not be initialized
  page | bug-check-0x11a---em-initialization-failure
0x11B DRIVER_RETURNED_HOLDING_CANCEL_LOCK | A driver's cancel routine came back with the global cancel lock still held
  arguments | IRP being cancelled, perhaps stale | Cancel routine | - | -
  page | bug-check-0x11b---driver-returned-holding-cancel-lock
0x11C ATTEMPTED_WRITE_TO_CM_PROTECTED_STORAGE | Something tried to write to read-only storage of the configuration manager
  arguments | Address of the attempted write | Contents of the page table entry | Reserved | Reserved
0x11D EVENT_TRACING_FATAL_ERROR | Event tracing met an error that it cannot go on with
  page | bug-check-0x11d---event-tracing-fatal-error
0x11E TOO_MANY_RECURSIVE_FAULTS | Faults occurred inside the handling of faults too many times
0x11F INVALID_DRIVER_HANDLE | A handle that belongs to a driver turned out to be invalid
0x120 BITLOCKER_FATAL_ERROR | BitLocker drive encryption met a fatal error
  page | bug-check-0x120--bitlocker-fatal-error-
0x121 DRIVER_VIOLATION | A driver broke a rule of the kernel
  arguments | Kind of violation | Reserved | Reserved | Reserved
  page | bug-check-0x121---driver-violation
0x122 WHEA_INTERNAL_ERROR | The Windows hardware error architecture itself failed, through firmware or a vendor plug-in
  arguments | Kind of failure | - | - | -
  page | bug-check-0x122---whea-internal-error
  when 1 = 0x1 | no memory for the error sources of the firmware table | Bytes needed | Error sources | Zero
  when 1 = 0x2 | no memory for the per-processor blocks | Processors | Zero | Zero
  when 1 = 0x5 | error sources could not be set up | $Status | Initialization phase | Zero
  when 1 = 0x6 | error source could not be initialized | $Status | Initialization phase | Type of the error source
  when 1 = 0x7 | not enough memory | $Status | Zero | Zero
  when 1 = 0x8 | no memory for the error source descriptors | Error sources | Zero | Zero
  when 1 = 0x9 | error came from an invalid source | Type of the error source | Identifier of the source | Zero
  when 1 = 0xA | no error record for an uncorrected error | Type of the error source | Identifier of the source | Zero
  when 1 = 0xB | error record could not be filled in | Type of the error source | Identifier of the source | Zero
0x123 CRYPTO_SELF_TEST_FAILURE | The cryptographic library failed its self-test
  page | bug-check-0x123--crypto-self-test-failure-
0x124 WHEA_UNCORRECTABLE_ERROR live WHEA_UNCORRECTABLE_ERROR | The hardware reported an error that it could not correct: processor, memory, bus or heat
  arguments | Source of the error | Error record (WHEA_ERROR_RECORD) | - | -
  page | bug-check-0x124---whea-uncorrectable-error
  live | The hardware reported an error; the record was saved and the system went on
  when 1 = 0x0 | machine check exception | Error record (WHEA_ERROR_RECORD) | High half of the bank's status register | Low half of the bank's status register
  when 1 = 0x1 | corrected machine check | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x2 | corrected platform error | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x3 | non-maskable interrupt | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x4 | PCI Express | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x5 | generic hardware error | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x6 | initialization error | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x7 | error found at boot | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x8 | generic error of a scalable coherent interface | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0x9 | Itanium machine check abort | Error record (WHEA_ERROR_RECORD) | Length of the firmware log | Firmware log
  when 1 = 0xA | corrected Itanium machine check | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
  when 1 = 0xB | corrected Itanium platform error | Error record (WHEA_ERROR_RECORD) | Reserved | Reserved
0x125 NMR_INVALID_STATE | The network module registrar found its state invalid
0x126 NETIO_INVALID_POOL_CALLER | A caller asked the network I/O subsystem's pool for something invalid
0x127 PAGE_NOT_ZERO | A page that should hold only zeros does not, through bad memory or a write after free
  arguments | Virtual address of the page | Physical page number | Reserved | Reserved
  page | bug-check-0x127---page-not-zero
0x128 WORKER_THREAD_RETURNED_WITH_BAD_IO_PRIORITY | A worker thread came back from a work item with a changed I/O priority
  arguments | Worker routine | Current I/O priority | Parameter of the work item | Work item
0x129 WORKER_THREAD_RETURNED_WITH_BAD_PAGING_IO_PRIORITY | A worker thread came back from a work item with a changed paging I/O priority
  arguments | Worker routine | Current paging I/O priority | Parameter of the work item | Work item
0x12A MUI_NO_VALID_SYSTEM_LANGUAGE | No usable system language is installed
0x12B FAULTY_HARDWARE_CORRUPTED_PAGE | A page holds a single wrong bit, which points to faulty memory hardware
  arguments | Virtual address of the page | Physical page number | Reserved | Reserved
  page | bug-check-0x12b---faulty-hardware-corrupted-page
0x12C EXFAT_FILE_SYSTEM | The exFAT file system driver met an error that it could not handle
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Exception record when FppExceptionFilter is on the stack | Context record when FppExceptionFilter is on the stack | Reserved
  page | bug-check-0x12c---exfat-file-system
0x12D VOLSNAP_OVERLAPPED_TABLE_ACCESS | The volume snapshot driver touched overlapping tables
0x12E INVALID_MDL_RANGE | A driver passed an MDL whose range is not valid
0x12F VHD_BOOT_INITIALIZATION_FAILED | Start from a virtual hard disk could not be initialized
0x130 DYNAMIC_ADD_PROCESSOR_MISMATCH | A processor added at run time does not match the others
0x131 INVALID_EXTENDED_PROCESSOR_STATE | The extended state of a processor is not valid
0x132 RESOURCE_OWNER_POINTER_INVALID | A resource owner pointer is not valid
0x133 DPC_WATCHDOG_VIOLATION | The watchdog caught a DPC, interrupt routine or run at raised IRQL that took too long
  arguments | Kind of violation | - | - | -
  page | bug-check-0x133-dpc-watchdog-violation
  when 1 = 0x0 | single DPC or interrupt routine used up its time | Time used, in ticks | Time allowed, in ticks | Triage block of the watchdog (DPC_WATCHDOG_GLOBAL_TRIAGE_BLOCK)
  when 1 = 0x1 | processor spent too long at DISPATCH_LEVEL or above in all | Watchdog period | Triage block of the watchdog (DPC_WATCHDOG_GLOBAL_TRIAGE_BLOCK) | Reserved
0x134 DRIVE_EXTENDER | The drive extender driver met an error
0x135 REGISTRY_FILTER_DRIVER_EXCEPTION | A registry filter driver raised an exception in its callback and did not handle it
  arguments | $Exception code | Context record of the exception | Callback of the driver | Reserved
0x136 VHD_BOOT_HOST_VOLUME_NOT_ENOUGH_SPACE | The volume that holds the virtual hard disk to start from has too little free space
0x137 WIN32K_HANDLE_MANAGER | The handle manager of the window system found its structures damaged
0x138 GPIO_CONTROLLER_DRIVER_ERROR | The driver framework for GPIO controllers met a fatal error
  page | bug-check-0x138-gpio-controller-driver-error
0x139 KERNEL_SECURITY_CHECK_FAILURE | The kernel found a critical data structure damaged or a security check failed
  arguments | Kind of corruption | Trap frame of the exception | Exception record of the exception | Reserved
  value 1 = 0x0 | stack buffer overrun (old style check)
  value 1 = 0x1 | illegal virtual function table
  value 1 = 0x2 | stack buffer overrun (cookie check)
  value 1 = 0x3 | list entry corrupted, as by a double remove
  value 1 = 0x4 | stack pointer outside the thread's stack
  value 1 = 0x5 | invalid parameter to a function that treats it as fatal
  value 1 = 0x6 | stack cookie not initialized by the loader
  value 1 = 0x7 | fatal exit requested
  value 1 = 0x8 | array index out of bounds
  value 1 = 0x9 | unsafe registry query
  value 1 = 0xA | indirect call guard failed
  value 1 = 0xB | write guard failed
  value 1 = 0xC | switch to an invalid fiber
  value 1 = 0xD | invalid register context set
  value 1 = 0xE | reference count of an object is invalid
  value 1 = 0x12 | invalid jump buffer
  value 1 = 0x13 | read-only data modified unsafely
  value 1 = 0x14 | cryptographic self-test failed
  value 1 = 0x15 | invalid exception chain
  value 1 = 0x16 | cryptographic library error
  value 1 = 0x17 | invalid call inside DllMain
  value 1 = 0x18 | invalid image base
  value 1 = 0x19 | delay load import could not be protected
  value 1 = 0x1A | unsafe extension called
  value 1 = 0x1B | deprecated service used
  value 1 = 0x1C | buffer access out of bounds
  value 1 = 0x1D | red-black tree entry corrupted
  value 1 = 0x25 | jump table index out of range
  value 1 = 0x26 | long jump to an invalid target
  value 1 = 0x27 | export-suppressed target could not be made valid
0x13A KERNEL_MODE_HEAP_CORRUPTION | The kernel heap manager found a heap damaged
  arguments | Kind of damage | Heap that reported it | Address of the damage | Reserved
  value 1 = 0x3 | entry header damaged
  value 1 = 0x4 | several entry headers damaged
  value 1 = 0x5 | entry header of a large block damaged
  value 1 = 0x6 | looks like a buffer overrun
  value 1 = 0x7 | looks like a buffer underrun
  value 1 = 0x8 | free block used as a busy one
  value 1 = 0x9 | invalid argument
  value 1 = 0xA | invalid allocation type
  value 1 = 0xB | looks like a use after free
  value 1 = 0xC | wrong heap
  value 1 = 0xD | free list damaged
  value 1 = 0xE | another list damaged
  value 1 = 0xF | free block used as a busy one
  value 1 = 0x10 | internal state invalid
  value 1 = 0x11 | internal state invalid
  value 1 = 0x12 | internal state invalid
  value 1 = 0x13 | null heap handle
  value 1 = 0x14 | request above the allocation limit
  value 1 = 0x15 | request above the commit limit
  value 1 = 0x16 | invalid size query
0x13B PASSIVE_INTERRUPT_ERROR | Handling of an interrupt at passive level went wrong
0x13C INVALID_IO_BOOST_STATE | The I/O boost state of a thread was not clear when the thread ended
  arguments | Thread | Boost state or throttle count | Reserved | Reserved
0x13D CRITICAL_INITIALIZATION_FAILURE | Early initialization of the kernel failed
  arguments | Reserved | Reserved | Reserved | Reserved
`;
