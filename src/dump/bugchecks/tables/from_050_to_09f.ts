/** Bug checks 0x50 to 0x9F; `parse_table.ts` says how a table is written. */
export const TABLE = `
0x50 PAGE_FAULT_IN_NONPAGED_AREA | Kernel code touched memory that is not there and cannot be paged in, through a wild pointer or freed memory
  arguments | Address that was referenced | Kind of access | Instruction that made the reference, if known | Kind of page fault
  value 2 = 0x0 | read
  value 2 = 0x1 | write
  value 2 = 0x2 | write (x86 and x64 since Windows 10 1507)
  value 2 = 0x8 | execute (ARM)
  value 2 = 0x10 | execute
  value 4 = 0x0 | page table entry marked as freed
  value 4 = 0x2 | no valid page table entry
  value 4 = 0x3 | address belongs to another session
  value 4 = 0x4 | address is not canonical
0x51 REGISTRY_ERROR | The registry met an error that it could not handle, often a damaged hive or a failed read
  arguments | Reserved | Reserved | Address of the hive, if available | Result of the hive check when the hive is damaged
0x52 MAILSLOT_FILE_SYSTEM | The mailslot file system met an error that it could not handle
0x53 NO_BOOT_DEVICE | No device to start from was found
0x54 LM_SERVER_INTERNAL_ERROR | The LAN Manager server service met an internal error
0x55 DATA_COHERENCY_EXCEPTION | The processor reported that its view of data is not coherent
0x56 INSTRUCTION_COHERENCY_EXCEPTION | The processor reported that its view of instructions is not coherent
0x57 XNS_INTERNAL_ERROR | The XNS network transport met an internal error
0x58 FTDISK_INTERNAL_ERROR | A fault-tolerant disk set met an internal error, or the system was started from a stale mirror
0x59 PINBALL_FILE_SYSTEM | The HPFS (Pinball) file system driver met an error that it could not handle
0x5A CRITICAL_SERVICE_FAILED | A service that the system cannot run without failed to start
0x5B SET_ENV_VAR_FAILED | An environment variable could not be set
0x5C HAL_INITIALIZATION_FAILED | The hardware abstraction layer could not be initialized
0x5D UNSUPPORTED_PROCESSOR | The processor lacks features that this version of Windows needs
0x5E OBJECT_INITIALIZATION_FAILED | The object manager could not be initialized
0x5F SECURITY_INITIALIZATION_FAILED | The security system could not be initialized
0x60 PROCESS_INITIALIZATION_FAILED | The process manager could not be initialized
0x61 HAL1_INITIALIZATION_FAILED | The second phase of the hardware abstraction layer's initialization failed
0x62 OBJECT1_INITIALIZATION_FAILED | The second phase of the object manager's initialization failed
0x63 SECURITY1_INITIALIZATION_FAILED | The second phase of the security system's initialization failed
0x64 SYMBOLIC_INITIALIZATION_FAILED | Symbolic links needed at start could not be initialized
0x65 MEMORY1_INITIALIZATION_FAILED | The second phase of the memory manager's initialization failed
0x66 CACHE_INITIALIZATION_FAILED | The cache manager could not be initialized
0x67 CONFIG_INITIALIZATION_FAILED | The configuration manager could not initialize the registry
  arguments | Reserved | Place in the code that failed | $Status of the failure | Reserved
0x68 FILE_INITIALIZATION_FAILED | The file system layer could not be initialized
0x69 IO1_INITIALIZATION_FAILED | The I/O manager could not be initialized, usually because devices needed at start were not found
0x6A LPC_INITIALIZATION_FAILED | The local procedure call system could not be initialized
0x6B PROCESS1_INITIALIZATION_FAILED | The process manager's second initialization phase failed, often because ntdll.dll could not be loaded
  arguments | $Status of the failure | Reserved | Reserved | Reserved
0x6C REFMON_INITIALIZATION_FAILED | The security reference monitor could not be initialized
0x6D SESSION1_INITIALIZATION_FAILED | The session manager could not be set up (step 1)
  arguments | $Status of the failure | Zero | Zero | Zero
0x6E SESSION2_INITIALIZATION_FAILED | The session manager could not be set up (step 2)
  arguments | $Status of the failure | Zero | Zero | Zero
0x6F SESSION3_INITIALIZATION_FAILED | The session manager process could not be started (step 3)
  arguments | $Status of the failure | Zero | Zero | Zero
0x70 SESSION4_INITIALIZATION_FAILED | The session manager process could not be resumed (step 4)
  arguments | $Status of the failure | Zero | Zero | Zero
0x71 SESSION5_INITIALIZATION_FAILED | The session manager ended right after it was started
  arguments | $Status of the failure | Zero | Zero | Zero
0x72 ASSIGN_DRIVE_LETTERS_FAILED | Drive letters could not be assigned at start
0x73 CONFIG_LIST_FAILED | A core hive of the registry could not be linked into the registry tree
0x74 BAD_SYSTEM_CONFIG_INFO | The SYSTEM hive holds wrong or missing settings, so the system cannot start
  arguments | Reserved | Reserved | Reserved | $Status of the failure, if available
0x75 CANNOT_WRITE_CONFIGURATION | The SYSTEM hive cannot be written at start
0x76 PROCESS_HAS_LOCKED_PAGES | A process ended with pages still locked by a driver, or a driver unlocked pages that were not locked
  arguments | Kind of violation | - | - | -
  when 1 = 0x0 | process ended with locked pages | Address of the process | Locked pages | Driver stack records when tracking is on, else zero
  when 1 = 0x1 | driver unlocked pages that are not locked | Address of the MDL | Pages locked in the process | Driver stack records when tracking is on, else zero
0x77 KERNEL_STACK_INPAGE_ERROR | A page of a kernel stack could not be read back or came back damaged, usually through a failing disk or memory
  arguments | $Status of the read | $I/O status | Page file number | Offset in the page file
  when 1 = 0x0 | =Page came from the page cache; the stack signature is missing | Value found in place of the signature | Zero | Address of the signature on the stack
  when 1 = 0x1 | =Page came from disk; the stack signature is missing | Value found in place of the signature | Zero | Address of the signature on the stack
  when 1 = 0x2 | =Page came from disk with success but a wrong length | Value found in place of the signature | Zero | Address of the signature on the stack
0x78 PHASE0_EXCEPTION | The first phase of initialization raised an exception
0x79 MISMATCHED_HAL | The kernel and the hardware abstraction layer do not fit together
  arguments | Kind of mismatch | - | - | -
  when 1 = 0x1 | processor block release levels differ | Level of the kernel | Level of the abstraction layer | Reserved
  when 1 = 0x2 | build types differ | Build type of the kernel | Build type of the abstraction layer | Reserved
  when 1 = 0x3 | loader block extension does not fit | Size of the loader block extension | Major version | Minor version
0x7A KERNEL_DATA_INPAGE_ERROR | A page of kernel data could not be read in, usually through a failing disk, cable, controller or memory
  arguments | Address of the page table entry | $I/O status | Contents of the page table entry | Faulting address
  when 1 = 0x1 | =Lock type 1 | $I/O status | Current process | Address that could not be paged in
  when 1 = 0x2 | =Lock type 2 | $I/O status | Zero | Address that could not be paged in
  when 1 = 0x3 and 3 = 0x0 | =Lock type 3 | $I/O status | Zero | Address that could not be paged in
  when 1 = 0x3 | =Lock type 3 | $I/O status | Address of the in-page support structure | Faulting address
  when 1 = 0x4 | =Lock type 4 | $I/O status | Address of the in-page support structure | Faulting address
0x7B INACCESSIBLE_BOOT_DEVICE | Windows lost or never reached the system partition at start: missing storage driver, changed controller or damaged file system
  arguments | Device object that could not be mounted, or a UNICODE_STRING with the device name | - | - | -
0x7C BUGCODE_NDIS_DRIVER | NDIS caught a network driver in an error
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | shared memory allocated at raised IRQL | Miniport adapter block | Length requested | Current IRQL
  when 1 = 0x2 | shared memory page found damaged | Miniport adapter block | Damaged page | Block that tracks the driver's shared memory
  when 1 = 0x3 | shared memory freed twice | Miniport adapter block | Page that held the memory | Virtual address of the memory
  when 1 = 0x4 | device added for a driver that is not registered with NDIS | Miniport driver block | Driver object | Zero
  when 1 = 0x5 | received packet descriptor still in use (stack location check) | Miniport adapter block | Packet descriptor | Packet array
  when 1 = 0x6 | received packet descriptor still in use (reference count check) | Miniport adapter block | Packet descriptor | Packet array
  when 1 = 0x7 | FDDI packet descriptor still in use | Miniport adapter block | Packet descriptor | Packet array
  when 1 = 0x8 | miniport halted without giving up its interrupt | Miniport adapter block | Interrupt structure | Zero
  when 1 = 0x9 | miniport halted with timers still active | Miniport adapter block | Timer queue | Zero
  when 1 = 0xA | miniport driver unloaded too early | Miniport driver block | Driver object | Reference count
  when 1 = 0xB | failed initialization left the interrupt registered | Miniport adapter block | Interrupt structure | Zero
  when 1 = 0xC | failed initialization left timers active | Miniport adapter block | Timer queue | Zero
  when 1 = 0xD | halt during initialization left the interrupt registered | Miniport adapter block | Interrupt structure | Zero
  when 1 = 0xE | halt during initialization left timers active | Miniport adapter block | Timer queue | Zero
  when 1 = 0xF | reset completed that nobody asked for | Miniport adapter block | Reset status | Addressing reset flag
  when 1 = 0x10 | initialization after low power failed and left the interrupt registered | Miniport adapter block | Interrupt structure | Zero
  when 1 = 0x11 | initialization after low power failed and left timers active | Miniport adapter block | Timer queue | Zero
  when 1 = 0x12 | received packet descriptor still in use (filter check) | Miniport adapter block | Packet descriptor | Packet array
  when 1 = 0x13 | token ring packet descriptor still in use | Miniport adapter block | Packet descriptor | Packet array
  when 1 = 0x14 | NdisWaitEvent called at an illegal IRQL | Actual IRQL | Zero | Zero
  when 1 = 0x15 | NDIS 6 miniport called a function kept for older drivers | Miniport adapter block | Zero | Zero
  when 1 = 0x16 | protocol opened an adapter wrongly while binding | Protocol block | Bind context | Open handle
  when 1 = 0x17 | interface provider deregistered with interfaces left | Interface provider handle | Zero | Zero
0x7D INSTALL_MORE_MEMORY | The machine has too little memory for Windows to start
  arguments | Physical pages found | Lowest physical page | Highest physical page | Zero
0x7E SYSTEM_THREAD_EXCEPTION_NOT_HANDLED | A system thread raised an exception that no handler accepted
  arguments | $Exception code | Address where the exception occurred | Exception record | Context record
0x7F UNEXPECTED_KERNEL_MODE_TRAP | The processor took a trap in kernel mode that the kernel cannot accept; a double fault often means an exhausted kernel stack
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
0x80 NMI_HARDWARE_FAILURE | A non-maskable interrupt reported a hardware fault
  arguments | Reserved | Reserved | Reserved | Reserved
0x81 SPIN_LOCK_INIT_FAILURE | A spin lock could not be initialized
0x82 DFS_FILE_SYSTEM | The distributed file system driver met an error that it could not handle
0x85 SETUP_FAILURE | Setup of Windows failed
0x8B MBR_CHECKSUM_MISMATCH | The checksum of the master boot record differs from the one the loader computed, a sign of a boot virus or bad disk
  arguments | Disk signature in the boot record | Checksum computed by the loader | Checksum computed by the system | Reserved
0x8E KERNEL_MODE_EXCEPTION_NOT_HANDLED | A kernel-mode program raised an exception that no handler accepted
  arguments | $Exception code | Address where the exception occurred | Trap frame | Reserved
0x8F PP0_INITIALIZATION_FAILED | The first phase of plug and play initialization failed
0x90 PP1_INITIALIZATION_FAILED | The second phase of plug and play initialization failed
0x92 UP_DRIVER_ON_MP_SYSTEM | A driver built for one processor was loaded on a machine with several
  arguments | Base address of the driver | - | - | -
0x93 INVALID_KERNEL_HANDLE | Kernel code closed a handle that is invalid or protected
  arguments | Handle that was closed or referenced | - | Zero | -
  when 4 = 0x1 | =With bad handle detection: a reference to an invalid handle | Handle that was referenced | Handle table | Zero
  when 2 = 0x0 | =Kind of error: protected handle closed | Handle that was closed | Zero | Zero
  when 2 = 0x1 | =Kind of error: invalid handle closed or referenced | Handle that was closed | Zero | Zero
0x94 KERNEL_STACK_LOCKED_AT_EXIT | A thread ended while its kernel stack was still locked
0x96 INVALID_WORK_QUEUE_ITEM | An entry of a work queue has a missing link, usually because the item was freed or overwritten while queued
  arguments | Queue entry with the bad link | Queue in use | Base of the worker queue array | Worker routine, if available
0x97 BOUND_IMAGE_UNSUPPORTED | A driver image uses bound imports, which is not supported
0x98 END_OF_NT_EVALUATION_PERIOD | The trial period of this Windows installation is over
  arguments | Installation date, low 32 bits | Installation date, high 32 bits | Trial period in minutes | Zero
0x99 INVALID_REGION_OR_SEGMENT | A region was initialized or extended with invalid values
0x9A SYSTEM_LICENSE_VIOLATION | The licence of this Windows installation was violated
0x9B UDFS_FILE_SYSTEM | The UDF file system driver met an error that it could not handle
  arguments | Source file (high 16 bits) and line (low 16 bits) of the check | Exception record when UdfExceptionFilter is on the stack | Context record when UdfExceptionFilter is on the stack | Reserved
0x9C MACHINE_CHECK_EXCEPTION | The processor reported a fatal machine check before the hardware error architecture was ready
  arguments | Machine check bank (processors without banks: low half of P5_MC_TYPE) | Address of the MCA_EXCEPTION structure | High half of the bank's status (without banks: of P5_MC_ADDR) | Low half of the bank's status (without banks: of P5_MC_ADDR)
0x9E USER_MODE_HEALTH_MONITOR | A user-mode component that the cluster depends on failed its health check and the machine was stopped to fail over
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
0x9F DRIVER_POWER_STATE_FAILURE | A driver did not handle a power transition properly, most often by holding a power request too long
  arguments | Kind of violation | - | - | -
  when 1 = 0x1 | device object was freed with a power request outstanding | Device object | Reserved | Reserved
  when 1 = 0x2 | device completed a system power request without PoStartNextPowerIrp | Target device object, if available | Device object | Driver object, if available
  when 1 = 0x3 | device has been holding a power IRP too long | Physical device object of the stack | TRIAGE_9F_POWER block (before Windows 7 the functional device object) | IRP being held
  when 1 = 0x4 | power transition timed out waiting for plug and play | Timeout in seconds | Thread that holds the plug and play lock | TRIAGE_9F_PNP block
  when 1 = 0x5 | device did not finish a directed power transition in time | Physical device object of the stack | POP_FX_DEVICE object | Reserved
  when 1 = 0x6 | device did not complete its directed power callback | POP_FX_DEVICE object | Direction: 1 power down, 0 power up | Reserved
  when 1 = 0x500 | device completed a system power request without PoStartNextPowerIrp | Reserved | Target device object, if available | Device object
`;
