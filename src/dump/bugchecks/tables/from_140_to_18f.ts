/** Bug checks 0x140 to 0x18F; `parse_table.ts` says how a table is written. */
export const TABLE = `
0x140 STORAGE_DEVICE_ABNORMALITY_DETECTED | A storage device behaves abnormally
0x141 live VIDEO_ENGINE_TIMEOUT_DETECTED | One engine of the graphics processor did not respond in time; the system went on
  arguments | Recovery context, if available | Address inside the display driver | Bucketing key of the driver | Internal data, if available
  page | bug-check-0x141---video-engine-timeout-detected
0x142 live VIDEO_TDR_APPLICATION_BLOCKED | An application was blocked from the graphics processor after it caused too many resets; the system went on
0x143 PROCESSOR_DRIVER_INTERNAL | The processor driver met an internal error
0x144 BUGCODE_USB3_DRIVER live BUGCODE_USB3_DRIVER | The USB 3 driver stack or a driver that uses it did something invalid
  arguments | Kind of violation | - | - | -
  live | The USB 3 driver stack met an error; the system went on
  when 1 = 0x1 | client used a request block that it had already sent | IRP of the resend, if any | Request block | Device object of the client
  when 1 = 0x2 | boot or paging device did not come back | Physical device object | Reserved | Reserved
  when 1 = 0x3 | client sent a damaged request block | IRP, if any | Request block | Device object of the client
  when 1 = 0x800 | static streams opened above PASSIVE_LEVEL | IRQL of the request | IRP | Device object of the client
  when 1 = 0x801 | static streams opened before the capability was queried | IRP | Request block | Device object of the client
  when 1 = 0x802 | invalid number of static streams | Streams asked for | Streams granted | Device object of the client
  when 1 = 0x803 | static streams opened twice | IRP | Request block | Device object of the client
  when 1 = 0x804 | handle not closed or request block not freed | Context of the leak | Device object of the handle | Reserved
  when 1 = 0x805 | static streams closed in an invalid state | WDFREQUEST handle | Request block | Device object of the client
  when 1 = 0x806 | chained MDL sent before the capability was queried | IRP | Request block | Device object of the client
  when 1 = 0x807 | transfer longer than the chained MDL | Chained MDL | Request block | Device object of the client, if available
  when 1 = 0x1001 | controller reported a host system error | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1002 | controller reported a host controller error | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1003 | stop endpoint command ended with an unknown code | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1004 | context state error after an endpoint stop | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1005 | dequeue pointer could not be set while a stall was cleared | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1006 | endpoint could not be reset while a stall was cleared | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1007 | controller reset failed during recovery | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1008 | controller restart failed during recovery | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1009 | command did not end after its abort | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100A | dequeue pointer could not be set after an endpoint stop | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100B | controller stop failed during recovery | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100C | firmware of the controller is not supported | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100D | controller was removed | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100E | error on an endpoint with streams | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x100F | firmware of the controller is outdated | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1010 | transfer ended with an unknown code | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1011 | event ring is full | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1012 | command completed out of order | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1013 | command ring pointer wrong after an abort | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1014 | controller gave out a bad slot | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1015 | address command failed | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1016 | slot could not be enabled during a reset | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1017 | endpoints could not be deconfigured | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1018 | slot could not be disabled | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x1019 | device reset failed | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x101A | dequeue pointer could not be set after an endpoint reset | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x101B | endpoint reset ended with an unknown code | XHCI_LIVEDUMP_CONTEXT | Reserved | Reserved
  when 1 = 0x3003 | USB device could not be enumerated | USBHUB3_LIVEDUMP_CONTEXT | Reserved | Reserved
0x145 SECURE_BOOT_VIOLATION | The Secure Boot policy could not be enforced
  page | bug-check-0x145--secure-boot-violation-
0x147 ABNORMAL_RESET_DETECTED | An abnormal reset was detected
0x149 REFS_FILE_SYSTEM | The ReFS driver met an error that it could not handle
  arguments | Source line of the check, or a message | Exception record when RefsExceptionFilter is on the stack | Context record when RefsExceptionFilter is on the stack | Address of the exception
0x14A KERNEL_WMI_INTERNAL | The kernel part of WMI met an internal error
0x14B SOC_SUBSYSTEM_FAILURE | A subsystem of the system on a chip failed beyond recovery
  arguments | SOC_SUBSYSTEM_FAILURE_DETAILS | Reserved | Reserved | Data block of the vendor, if any
0x14C FATAL_ABNORMAL_RESET_ERROR | An abnormal reset with a fatal error occurred
0x14D EXCEPTION_SCOPE_INVALID | The kernel found its exception dispatching inconsistent
  arguments | Reserved | Reserved | Reserved | Reserved
0x14E SOC_CRITICAL_DEVICE_REMOVED | A device of the system on a chip that the system needs was removed
0x14F PDC_WATCHDOG_TIMEOUT | A component did not answer in time, so the system could not leave connected standby
  arguments | Identifier of the hung client | Kind of client | - | -
  when 2 = 0x1 | notification client did not respond | Identifier of the hung client | PDC_NOTIFICATION_CLIENT | PDC_14F_TRIAGE block
  when 2 = 0x2 | resiliency client did not respond | Identifier of the hung client | PDC_RESILIENCY_CLIENT | PDC_14F_TRIAGE block
  when 2 = 0x3 | activator client held a reference too long | Identifier of the hung client | Activator client | PDC_14F_TRIAGE block
  when 2 = 0x100 | window system did not turn the monitor on in time | Identifier of the hung client | Reason of the monitor request | Path that made the request
0x150 TCPIP_AOAC_NIC_ACTIVE_REFERENCE_LEAK | The TCP/IP driver kept a network adapter active in connected standby through a leaked reference
0x151 UNSUPPORTED_INSTRUCTION_MODE | The processor was set to an instruction mode that Windows does not support
0x152 INVALID_PUSH_LOCK_FLAGS | A push lock was used with invalid flags
  arguments | Invalid flags | Address of the push lock | Reserved | Reserved
0x153 KERNEL_LOCK_ENTRY_LEAKED_ON_THREAD_TERMINATION | A thread ended without giving up all its locks tracked for priority boosts
  arguments | Thread | Lock entry that was not released | State of the entry | Reserved
  value 3 = 0x1 | lock pointer is not null
  value 3 = 0x2 | reserved bits of the thread pointer are set
  value 3 = 0x3 | thread pointer is damaged
  value 3 = 0x4 | boosts are left
0x154 UNEXPECTED_STORE_EXCEPTION | The compressed memory store caught an unexpected exception, often from a failing disk or memory
  arguments | Store context or data manager | Exception information | Reserved | Reserved
0x155 OS_DATA_TAMPERING | Windows found that its own data had been tampered with
0x156 live WINSOCK_DETECTED_HUNG_CLOSESOCKET_LIVEDUMP | Winsock found a close request to a transport endpoint hung; the system went on
  arguments | AFD endpoint | Type of the endpoint | Buffered send bytes for datagram endpoints | NETIO_SUPER_TRIAGE_BLOCK
  value 2 = 0x1 | UDP datagram
  value 2 = 0x2 | raw datagram
  value 2 = 0x3 | TCP listener
  value 2 = 0x4 | TCP endpoint
0x157 KERNEL_THREAD_PRIORITY_FLOOR_VIOLATION | The priority floor of a thread was changed in an illegal way
  arguments | Thread | Target priority | Kind of violation | Reserved
  value 3 = 0x1 | counter of the priority overflowed
  value 3 = 0x2 | counter of the priority underflowed
  value 3 = 0x3 | priority is illegal
0x158 ILLEGAL_IOMMU_PAGE_FAULT | A device made a memory access that the IOMMU does not allow
0x159 HAL_ILLEGAL_IOMMU_PAGE_FAULT | The hardware abstraction layer found a memory access that the IOMMU does not allow
0x15A SDBUS_INTERNAL_ERROR | The SD bus driver met an internal error
0x15B WORKER_THREAD_RETURNED_WITH_SYSTEM_PAGE_PRIORITY_ACTIVE | A worker thread came back from a work item with system page priority still active
0x15C live PDC_WATCHDOG_TIMEOUT_LIVEDUMP | A component did not answer the power dependency coordinator in time; the system went on
  arguments | Identifier of the hung client | Kind of client | - | -
  when 2 = 0x1 | notification client did not respond | Identifier of the hung client | PDC_NOTIFICATION_CLIENT | PDC_14F_TRIAGE block
  when 2 = 0x2 | resiliency client did not respond | Identifier of the hung client | PDC_RESILIENCY_CLIENT | PDC_14F_TRIAGE block
  when 2 = 0x3 | activator client held a reference too long | Identifier of the hung client | PDC_ACTIVATOR_CLIENT | PDC_14F_TRIAGE block
0x15D live SOC_SUBSYSTEM_FAILURE_LIVEDUMP | A subsystem of the system on a chip failed; the system went on
  arguments | SOC_SUBSYSTEM_FAILURE_DETAILS | Reserved | Reserved | Data block of the vendor, if any
  page | bug-check-0x15d-soc-subsystem-failure-livedump
0x15E live BUGCODE_NDIS_DRIVER_LIVE_DUMP | NDIS met a state worth a dump; the system went on
  page | bug-check-0x15e-bugcode-ndis-driver-live-dump
0x15F live CONNECTED_STANDBY_WATCHDOG_TIMEOUT_LIVEDUMP | The system stayed in connected standby without reaching deep idle; the system went on
  arguments | Kind of timeout | - | - | -
  when 1 = 0x1 | no deep idle although nothing holds it back | POP_DRIPS_WATCHDOG_METRICS | Milliseconds without deep idle | Reserved
  when 1 = 0x2 | device constraint keeps the system from deep idle | TRIAGE_POP_FX_DEVICE | Component index | Reserved
  when 1 = 0x3 | veto of the platform keeps the system from deep idle | Veto code | Name of the veto | Callback of the power engine plug-in
  when 1 = 0x4 | deep sleep watchdog | Metrics | Milliseconds without deep sleep | Reserved
  when 1 = 0x5 | deep sleep power setting watchdog | Metrics | Milliseconds without deep sleep | Reserved
0x160 WIN32K_ATOMIC_CHECK_FAILURE | The window system entered a section that must be atomic in the wrong way
0x161 live LIVE_SYSTEM_DUMP | Someone asked for a dump of the running system; nothing crashed
0x162 KERNEL_AUTO_BOOST_INVALID_LOCK_RELEASE | A lock tracked for priority boosts was released by a thread that does not own it
  arguments | Thread | Lock | Session of the thread | Reserved
0x163 WORKER_THREAD_TEST_CONDITION | A test condition of worker threads was met
  page | bug-check-0x162--worker-thread-test-condition
0x164 WIN32K_CRITICAL_FAILURE live WIN32K_CRITICAL_FAILURE | The window system met a critical failure
  live | The window system met a critical failure; the system went on
  arguments | Kind of failure | - | - | -
  when 1 = 0x1 | region out of the bounds of its surface | Device context | Surface | Region
  when 1 = 0x2 | operator new used for memory | Reserved | Reserved | Reserved
  when 1 = 0x3 | critical function of an extension is missing | Name of the function | Reserved | Reserved
  when 1 = 0x4 | shape of a sprite deleted without the sprite | Handle of the surface | References to the surface | Process that owns the surface
  when 1 = 0x5 | pointer device could not be opened | Name of the device | Reserved | Reserved
  when 1 = 0x8 | public device context points to an object of one process | Device context | Process that owns the object | Reserved
  when 1 = 0xA | invalid function index in the TrueType driver | Reserved | Reserved | Reserved
  when 1 = 0xB | invalid function index in the OpenType driver | Reserved | Reserved | Reserved
  when 1 = 0xC | invalid function index in a palette | Palette | Invalid index | First index past the end
  when 1 = 0x10 | secure attention key could not be registered | Virtual key | Modifiers | Flags
0x165 live CLUSTER_CSV_STATUS_IO_TIMEOUT_LIVEDUMP | A cluster shared volume reported an I/O timeout status; the system went on
  page | bug-check-0x165--cluster-csv-staus-io-timeout-livedump
  arguments | Process identifier of the cluster service, if known | Node that saw the timeout | Reserved | Reserved
0x166 live CLUSTER_RESOURCE_CALL_TIMEOUT_LIVEDUMP | A call into a cluster resource did not return in time; the system went on
0x167 live CLUSTER_CSV_SNAPSHOT_DEVICE_INFO_TIMEOUT_LIVEDUMP | Snapshot device information for a cluster shared volume did not come in time; the system went on
0x168 live CLUSTER_CSV_STATE_TRANSITION_TIMEOUT_LIVEDUMP | A state transition of a cluster shared volume took too long; the system went on
0x169 live CLUSTER_CSV_VOLUME_ARRIVAL_LIVEDUMP | A dump was taken on the arrival of a volume of a cluster shared volume; the system went on
  page | bug-check-0x169--cluster-csv-volume-arival-livedump
0x16A live CLUSTER_CSV_VOLUME_REMOVAL_LIVEDUMP | A dump was taken on the removal of a volume of a cluster shared volume; the system went on
0x16B live CLUSTER_CSV_CLUSTER_WATCHDOG_LIVEDUMP | The cluster service's watchdog found a thread that makes no progress; the system went on
  arguments | Process identifier of the cluster service | Identifier of the stuck thread | Reserved | Reserved
0x16C INVALID_RUNDOWN_PROTECTION_FLAGS | Rundown protection was used with invalid flags
  arguments | Invalid flags | Address of the rundown reference | Reserved | Reserved
0x16D INVALID_SLOT_ALLOCATOR_FLAGS | A slot allocator was used with invalid flags
  arguments | Invalid flags | Reserved | Reserved | Reserved
0x16E ERESOURCE_INVALID_RELEASE | A resource was released in an invalid way
  arguments | Resource | Current thread | Wrong target thread that was passed | Reserved
0x16F live CLUSTER_CSV_STATE_TRANSITION_INTERVAL_TIMEOUT_LIVEDUMP | The time between state transitions of a cluster shared volume ran out; the system went on
  page | bug-check-0x16f--cluster-csv-state-transistion-interval-livedump
0x170 CLUSTER_CSV_CLUSSVC_DISCONNECT_WATCHDOG | A watchdog expired after the cluster service lost contact with a cluster shared volume
0x171 CRYPTO_LIBRARY_INTERNAL_ERROR | The cryptographic library met an internal error
0x173 COREMSGCALL_INTERNAL_ERROR | The CoreMessaging call layer met an internal error
0x174 COREMSG_INTERNAL_ERROR | CoreMessaging met an internal error
0x175 live PREVIOUS_FATAL_ABNORMAL_RESET_ERROR | A fatal abnormal reset happened before this start; the system went on
0x178 ELAM_DRIVER_DETECTED_FATAL_ERROR | The early-launch antimalware driver found a fatal error
  arguments | Kind of failure | - | - | Data block of the vendor, if any
  when 1 = 0x0 | TPM attestation could not be revoked | BDCB_IMAGE_INFORMATION of the driver | Result code of the TPM services | Data block of the vendor, if any
  when 1 = 0x10000 | failure defined by the vendor | Value of the vendor, if any | Value of the vendor, if any | Data block of the vendor, if any
0x179 live CLUSTER_CLUSPORT_STATUS_IO_TIMEOUT_LIVEDUMP | The SMB client of a cluster node saw I/O to another node time out; the system went on
  arguments | IRP that timed out | Reserved | Reserved | Reserved
0x17B PROFILER_CONFIGURATION_ILLEGAL | The hardware profiler was set up in an illegal way
0x17C live PDC_LOCK_WATCHDOG_LIVEDUMP | The watchdog for a lock of the power dependency coordinator expired; the system went on
0x17D live PDC_UNEXPECTED_REVOCATION_LIVEDUMP | The power dependency coordinator saw an unexpected revocation; the system went on
  page | bug-check-0x17d-unexpected-revocation-livedump
0x17E MICROCODE_REVISION_MISMATCH | The processors of the machine run different microcode, a fault of the firmware
  arguments | Processor signature (CPUID) | Microcode revision expected | Microcode revision found | Index of the processor
0x187 VIDEO_DWMINIT_TIMEOUT_FALLBACK_BDD live VIDEO_DWMINIT_TIMEOUT_FALLBACK_BDD | The display fell back to the basic display driver because the desktop window manager did not start
  arguments | Reason | Reserved | Reserved | Reserved
  live | The display fell back to the basic display driver because the desktop window manager did not start; the system went on
  value 1 = 0x1 | desktop window manager did not start after several tries
0x188 live CLUSTER_CSVFS_LIVEDUMP | A cluster shared volume file system met a state that could lead to inconsistent data; the system went on
  arguments | Reason | - | Reserved | -
  when 1 = 0x1 | cache purge failed when an oplock was lowered to none | CSVFS stream control block | Reserved | -
  when 1 = 0x2 | cache purge failed when an oplock was raised from none | CSVFS stream control block | Reserved | -
  when 1 = 0x3 | cache purge failed in set-purge-failure mode | CSVFS stream control block | Reserved | -
  when 1 = 0x4 | cache flush failed when an oplock was lowered to none | CSVFS stream control block | Reserved | -
0x189 BAD_OBJECT_HEADER | The header of a kernel object is damaged
  arguments | Damaged object header | Object type that the header leads to | Kind of damage | Reserved
  value 3 = 0x0 | type index is damaged
  value 3 = 0x1 | security descriptor is invalid
0x18B SECURE_KERNEL_ERROR | The secure kernel, which runs beside Windows under the hypervisor, met a fatal error
  arguments | Reserved | Reserved | Reserved | Reserved
0x18C HYPERGUARD_VIOLATION | The hypervisor-based guard found that critical kernel code or data was changed
  arguments | What was changed | Detail of the failure | Reserved | Reserved
  value 1 = 0x1001 | generic data
  value 1 = 0x1002 | page hash
  value 1 = 0x1004 | interrupt descriptor table
  value 1 = 0x1005 | global descriptor table
  value 1 = 0x1007 | debug routine
  value 1 = 0x1008 | dynamic code
  value 1 = 0x1009 | generic shareable data
  value 1 = 0x100A | hypervisor overlay
  value 1 = 0x100B | processor mode
  value 1 = 0x100C | extended control register
  value 1 = 0x100D | secure memory
  value 1 = 0x100E | loaded module
  value 1 = 0x100F | processor state
  value 1 = 0x1010 | kernel control flow guard bitmap
  value 1 = 0x1011 | page at virtual address 0
  value 1 = 0x1012 | alternate inverted function table
  value 1 = 0x1013 | page verified on demand
  value 1 = 0x1016 | secure image
  value 1 = 0x1017 | page protection of kernel memory
  value 1 = 0x1101 | context of the guard itself
  value 1 = 0x1102 | interrupt table register
  value 1 = 0x1103 | descriptor table register
0x18D SECURE_FAULT_UNHANDLED | A fault in secure memory could not be handled
0x18E KERNEL_PARTITION_REFERENCE_VIOLATION | A partition object was dereferenced wrongly, by a driver or through damaged data
  arguments | Kind of failure | - | - | -
  when 1 = 0x0 | partition deleted with hard references left | Partition | References left | Reserved
  when 1 = 0x1 | system partition is being deleted | Partition | Reserved | Reserved
  when 1 = 0x2 | partition deleted with work items left | Partition | Work queue | Reserved
`;
