/** Bug checks from 0x190 up; `parse_table.ts` says how a table is written. */
export const TABLE = `
0x190 live WIN32K_CRITICAL_FAILURE_LIVEDUMP | The window system met a critical failure; the system went on
0x191 PF_DETECTED_CORRUPTION | A component of the kernel found its memory damaged
0x192 KERNEL_AUTO_BOOST_LOCK_ACQUISITION_WITH_RAISED_IRQL | A lock tracked for priority boosts was acquired at DISPATCH_LEVEL or above
  arguments | Thread | Lock | IRQL of the acquisition | Reserved
0x193 live VIDEO_DXGKRNL_LIVEDUMP | The DirectX graphics kernel met a state worth a dump; the system went on
  arguments | Reason | Reserved | Reserved | Reserved
  page | bug-check-0x192--video-dxgkrnl-livedump
0x195 live SMB_SERVER_LIVEDUMP | The SMB server met a state worth a dump; the system went on
0x196 LOADER_ROLLBACK_DETECTED | A rollback of the boot loader was detected
0x197 WIN32K_SECURITY_FAILURE | The window system found a security failure
0x198 live UFX_LIVEDUMP | The USB function driver framework met a state worth a dump; the system went on
0x199 KERNEL_STORAGE_SLOT_IN_USE | A storage slot of the kernel was to be freed while in use
0x19A WORKER_THREAD_RETURNED_WHILE_ATTACHED_TO_SILO | A worker thread came back from a work item while still attached to a silo
0x19B TTM_FATAL_ERROR | The terminal topology manager met a fatal error
0x19C WIN32K_POWER_WATCHDOG_TIMEOUT | The window system did not turn the monitor on in time
  arguments | What hung | - | - | -
  when 1 = 0x10 | power request queue makes no progress | Thread that handles power requests, if any | Window system user lock | Power request in work, if any
  when 1 = 0x20 | call to the power manager | Power request worker thread | Reserved | Reserved
  when 1 = 0x30 | call to the graphics device interface | Power request worker thread | Reserved | Reserved
  when 1 = 0x40 | call to the desktop window manager | Power request worker thread | Reserved | Reserved
  when 1 = 0x50 | call to the monitor driver | Power request worker thread | Reserved | Reserved
0x19D live CLUSTER_SVHDX_LIVEDUMP | The shared virtual disk driver of the cluster met a state worth a dump; the system went on
0x1A0 TTM_WATCHDOG_TIMEOUT | The terminal topology manager's watchdog expired
0x1A1 live WIN32K_CALLOUT_WATCHDOG_LIVEDUMP | A callout of the window system did not return in time; the system went on
  arguments | Thread that keeps the callout from returning | Reserved | Reserved | Reserved
0x1A2 WIN32K_CALLOUT_WATCHDOG_BUGCHECK | A callout of the window system did not return in time
0x1A3 live CALL_HAS_NOT_RETURNED_WATCHDOG_TIMEOUT_LIVEDUMP | A call did not return in time; the system went on
  arguments | Process of the thread | Thread whose call hangs | Timeout in milliseconds | Watchdog (PO_CALL_HAS_NOT_RETURNED_WATCHDOG)
0x1A4 live DRIPS_SW_HW_DIVERGENCE_LIVEDUMP | Software and hardware disagree too much about the time spent in deep idle; the system went on
  arguments | Microseconds in deep idle by software | Microseconds in deep idle by hardware | Reserved | Reserved
0x1A5 live USB_DRIPS_BLOCKER_SURPRISE_REMOVAL_LIVEDUMP | A USB device that kept the system from deep idle was removed; the system went on
0x1A6 live BLUETOOTH_ERROR_RECOVERY_LIVEDUMP | Bluetooth recovered from an error; the system went on
0x1A7 live SMB_REDIRECTOR_LIVEDUMP | The SMB client met a state worth a dump; the system went on
0x1A8 live VIDEO_DXGKRNL_BLACK_SCREEN_LIVEDUMP | The screen stayed black and a dump was asked for; the system went on
  arguments | What asked for the dump | Reserved | Reserved | Reserved
  value 1 = 0x1 | hotkey
  value 1 = 0x2 | volume buttons
  value 1 = 0x4 | internal trigger
  value 1 = 0x8 | long power button hold
  value 1 = 0x9 | internal testing
  value 1 = 0xA | monitor connected but no mode set
0x1A9 live DIRECTED_FX_TRANSITION_LIVEDUMP | A device failed a directed power transition; the system went on
  arguments | POP_FX_DEVICE object | Direction | Reserved | Reserved
  value 2 = 0x0 | power up
  value 2 = 0x1 | power down
0x1AA EXCEPTION_ON_INVALID_STACK | An exception was raised on a stack that is not valid
0x1AB UNWIND_ON_INVALID_STACK | An unwind reached a stack that is not valid
0x1B0 live VIDEO_MINIPORT_FAILED_LIVEDUMP | A display miniport driver failed to add or start its device; the system went on
  arguments | Step that failed | $Status of the failure | Reserved | Reserved
  value 1 = 0x1 | add device
  value 1 = 0x2 | start device
0x1B8 live VIDEO_MINIPORT_BLACK_SCREEN_LIVEDUMP | A display miniport driver saw a black screen; the system went on
0x1C4 live DRIVER_VERIFIER_DETECTED_VIOLATION_LIVEDUMP | Driver Verifier caught a driver in an error; the system went on
0x1C5 live IO_THREADPOOL_DEADLOCK_LIVEDUMP | A pool of kernel threads came to a deadlock; the system went on
  arguments | Number of the pool | Work queue | Reserved | Reserved
  value 1 = 0x0 | ExPoolUntrusted
0x1C6 FAST_ERESOURCE_PRECONDITION_VIOLATION | A thread called a fast resource routine against its rules
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | IRQL of the caller is too high | IRQL of the caller | IRQL allowed | -
  when 1 = 0x1 | owner entry is not initialized | Owner entry | - | -
  when 1 = 0x2 | owner entry is already in use | Owner entry | Resource it is in use for | -
  when 1 = 0x3 | old resource passed to a fast routine | Resource | - | -
  when 1 = 0x4 | resource still has owners | Resource | - | -
  when 1 = 0x5 | caller runs inside a DPC | - | - | -
  when 1 = 0x6 | caller runs inside a special kernel APC | - | - | -
  when 1 = 0x7 | normal kernel APCs are not disabled | - | - | -
  when 1 = 0x8, 0xC | owner entry belongs to another resource | Resource passed | Owner entry | Resource of the entry
  when 1 = 0x9 | owner entry belongs to another thread | Owner entry | Thread of the entry | -
  when 1 = 0xA | owner entry was disowned | Owner entry | - | -
  when 1 = 0xB | owner entry has another kind of acquisition | Owner entry | Kinds: of the entry (high 16 bits), asked for (low 16 bits); 1 shared, 0 exclusive | -
  when 1 = 0xD | owner entry was not disowned | Owner entry | - | -
  when 1 = 0xE | fast resource passed to an old routine | Resource | - | -
  when 1 = 0xF | fast resource not set up for old routines | Resource | - | -
  when 1 = 0x10 | invalid flags at initialization | Resource | Flags | -
  when 1 = 0x11 | release for another thread | Resource | Thread | -
  when 1 = 0x12 | resource disowned while held recursively | Resource | - | -
  when 1 = 0x13 | resource converted while held recursively | Resource | - | -
  when 1 = 0x14 | thread ended with locks held | Thread | Owner entry | -
  when 1 = 0x15 | thread ended with disowned locks left | Thread | Owner entry | -
  when 1 = 0x16 | conversion to shared without exclusive hold | Resource | Thread | -
0x1C7 STORE_DATA_STRUCTURE_CORRUPTION | The compressed memory store found its data structures damaged, often by bad memory or stray DMA
  arguments | Kind of damage | - | - | -
  when 1 = 0x0 | hash of a heap buffer is wrong | Heap buffer | Hash expected | Page frame number
  when 1 = 0x1 | exception on a store thread with a wrong buffer hash | Heap buffer | Hash expected | Page frame number
  when 1 = 0x2 | page looks damaged and the hash of its record is wrong | Heap buffer | Hash expected | Page frame number
  when 1 = 0x3 | page looks damaged and its record changed during the read | Page location noted at the start | Page record now in the tree | Reserved
0x1C8 MANUALLY_INITIATED_POWER_BUTTON_HOLD | Someone held the power button and the system was set to crash on that
  arguments | Milliseconds the button was held | POP_POWER_BUTTON_TRIAGE_BLOCK | Reserved | Reserved
0x1C9 live USER_MODE_HEALTH_MONITOR_LIVEDUMP | A user-mode component that the cluster depends on failed its health check; the system went on
  arguments | Process that failed the check | Timeout in seconds | Watchdog that fired | Reserved
  value 3 = 0x0 | not stated
  value 3 = 0x1 | resource host clean-up
  value 3 = 0x2 | resource host asked for a stop on deadlock
  value 3 = 0x3 | exception from a resource
  value 3 = 0x4 | unhandled exception in the resource host
  value 3 = 0x5 | resource deadlock
  value 3 = 0x6 | resource type deadlock
  value 3 = 0x7 | unhandled exception in the cluster service
  value 3 = 0x8 | another node asked for a stop
  value 3 = 0x9 | user-mode watchdog expired
  value 3 = 0xA | cluster service sent no heartbeat
0x1CA SYNTHETIC_WATCHDOG_TIMEOUT | The whole system hung and took no timer ticks until a watchdog expired
  arguments | Time since the last watchdog reset, in interrupt time | Current interrupt time | Current performance counter | Index of the clock processor
0x1CB INVALID_SILO_DETACH | A thread detached from a silo in an invalid way
0x1CC live EXRESOURCE_TIMEOUT_LIVEDUMP | A kernel resource was waited for too long, through a deadlock or heavy use; the system went on
  arguments | Resource | Thread that noticed | Contention count | Timeout in seconds
0x1CD INVALID_CALLBACK_STACK_ADDRESS | The stack for a callback lies at a user-mode address
0x1CE INVALID_KERNEL_STACK_ADDRESS | A context switch met an initial kernel stack address that is not valid
0x1CF HARDWARE_WATCHDOG_TIMEOUT | A hardware watchdog found that the system hung and took no timer ticks
  arguments | Time since the last watchdog reset, in interrupt time | Current interrupt time | Current performance counter | Index of the clock processor
0x1D0 CPI_FIRMWARE_WATCHDOG_TIMEOUT | A firmware watchdog expired
  page | bug-check-0x1d0--acpi-firmware-watchdog-timeout
0x1D1 live TELEMETRY_ASSERTS_LIVEDUMP | An assertion reported through telemetry failed; the system went on
0x1D2 WORKER_THREAD_INVALID_STATE | A worker thread was found in an invalid state
0x1D3 WFP_INVALID_OPERATION | The Windows filtering platform was asked for an invalid operation
0x1D4 live UCMUCSI_LIVEDUMP | The USB Type-C connector manager met an error; the system went on
  page | bug-check-0x1d4--ucmusci-livedump
0x1D5 DRIVER_PNP_WATCHDOG | A driver did not finish a plug and play operation in time
  arguments | First characters of the service name of the device | TRIAGE_PNP_WATCHDOG block | Thread at fault | Milliseconds since the watchdog was set
0x1D6 WORKER_THREAD_RETURNED_WITH_NON_DEFAULT_WORKLOAD_CLASS | A worker thread came back from a work item with a workload class other than the default
0x1D7 EFS_FATAL_ERROR | The encrypting file system met a fatal error
0x1D8 UCMUCSI_FAILURE | The USB Type-C connector manager met an error that it cannot recover from
0x1D9 HAL_IOMMU_INTERNAL_ERROR | The IOMMU part of the hardware abstraction layer met an internal error
0x1DA HAL_BLOCKED_PROCESSOR_INTERNAL_ERROR | The library for blocked processors met an internal error
  arguments | Kind of failure | - | - | -
  when 1 = 0x1 | library could not be initialized | $Status | - | -
  when 1 = 0x2 | processor could not be started | Processor index | APIC identifier | -
  when 1 = 0x3 | package identifier could not be queried | Processor index | - | -
  when 1 = 0x4 | power operation failed | Operation: 1 and 2 register read and write, 3 and 4 port read and write, 5 idle state | Processor index | Mailbox
  when 1 = 0x5 | blocked processor met a fatal exception | Processor index | Vector | Trap frame
  when 1 = 0x6 | power operation timed out | Operation: 1 and 2 register read and write, 3 and 4 port read and write, 5 idle state | Processor index | Mailbox
0x1DB IPI_WATCHDOG_TIMEOUT | A processor waited too long for other processors to answer an interrupt
  arguments | Frequency of the performance counter | Current performance counter | Performance counter at the start | Reserved
0x1DC DMA_COMMON_BUFFER_VECTOR_ERROR | A vector of common buffers for DMA was used wrongly
0x1DD BUGCODE_MBBADAPTER_DRIVER | The mobile broadband adapter driver met an error
0x1DE BUGCODE_WIFIADAPTER_DRIVER | The Wi-Fi adapter driver met an error
0x1DF PROCESSOR_START_TIMEOUT | A processor did not start in time
0x1E1 live DEVICE_DIAGNOSTIC_LOG_LIVEDUMP | A device asked for its diagnostic log to be saved; the system went on
0x1E4 VIDEO_DXGKRNL_SYSMM_FATAL_ERROR | The system memory manager of the DirectX graphics kernel met a fatal error
0x1E9 ILLEGAL_ATS_INITIALIZATION | PCI address translation services were initialized in an illegal way
0x1EA SECURE_PCI_CONFIG_SPACE_ACCESS_VIOLATION | A secure part of PCI configuration space was accessed without permission
0x1EB DAM_WATCHDOG_TIMEOUT | The desktop activity moderator's watchdog expired
0x1ED HANDLE_ERROR_ON_CRITICAL_THREAD | A handle error occurred on a critical thread
0x1F1 KASAN_ENLIGHTENMENT_VIOLATION | An enlightenment of the kernel address sanitizer was violated
0x1F2 KASAN_ILLEGAL_ACCESS | The kernel address sanitizer caught a driver in an illegal memory access
  arguments | Address of the access | Size of the access | Address of the caller | Details: bits 0 to 7 are the shadow code
0x1F5 live APPLICATION_HANG_KERNEL_LIVEDUMP | An application hung inside the kernel; the system went on
0x356 XBOX_ERACTRL_CS_TIMEOUT | An Xbox component (ERACTRL) ran out of time on connected standby
0xBFE BC_BLUETOOTH_VERIFIER_FAULT | The Bluetooth verifier found a fault
0xBFF BC_BTHMINI_VERIFIER_FAULT | The verifier for the Bluetooth miniport found a fault
0x21C8 live MANUALLY_INITIATED_BLACKSCREEN_HOTKEY_LIVE_DUMP | Someone pressed the hotkey for a black screen; the system went on
0x20001 HYPERVISOR_ERROR | The hypervisor met a fatal error
  arguments | Reserved | Reserved | Reserved | Reserved
0x1000007E SYSTEM_THREAD_EXCEPTION_NOT_HANDLED_M | A system thread raised an exception that no handler accepted (code as used in small dumps)
  arguments | $Exception code | Address where the exception occurred | Exception record | Context record
0x1000007F UNEXPECTED_KERNEL_MODE_TRAP_M | The processor took a trap in kernel mode that the kernel cannot accept (code as used in small dumps)
  arguments | Trap number | - | - | -
  value 1 = 0x0 | divide by zero
  value 1 = 0x1 | debug trap
  value 1 = 0x3 | breakpoint
  value 1 = 0x4 | overflow
  value 1 = 0x5 | bounds check
  value 1 = 0x6 | invalid opcode
  value 1 = 0x7 | no coprocessor
  value 1 = 0x8 | double fault
  value 1 = 0xA | corrupt task state segment
  value 1 = 0xB | segment not present
  value 1 = 0xC | stack fault
  value 1 = 0xD | general protection fault
0x1000008E KERNEL_MODE_EXCEPTION_NOT_HANDLED_M | A kernel-mode program raised an exception that no handler accepted (code as used in small dumps)
  arguments | $Exception code | Address where the exception occurred | Trap frame | Reserved
0x100000EA THREAD_STUCK_IN_DEVICE_DRIVER_M | A thread in a device driver spins without end (code as used in small dumps)
  arguments | Stuck thread | Watchdog object | Name of the driver | In a debugger: times this check was hit, else 1
0x4000008A THREAD_TERMINATE_HELD_MUTEX | A driver ended a thread that still holds a mutex
  arguments | Thread | Mutex | Reserved | Reserved
0xC0000218 STATUS_CANNOT_LOAD_REGISTRY_FILE | A registry hive file is missing, damaged or cannot be written, so the registry cannot be loaded
  arguments | Name of the registry hive | Reserved | Reserved | Reserved
0xC000021A WINLOGON_FATAL_ERROR | A user-mode process that Windows depends on, such as Winlogon or CSRSS, ended or was compromised
  arguments | Text that names the problem | $Error code | Reserved | Reserved
0xC0000221 STATUS_IMAGE_CHECKSUM_MISMATCH | A driver or system library has a wrong checksum, so its file is damaged
0xDEADDEAD MANUALLY_INITIATED_CRASH1 | Someone asked for this crash on purpose, usually from a debugger
`;
