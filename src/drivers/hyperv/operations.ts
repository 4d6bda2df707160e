/** The operations of the sidecar: the only names that it dispatches, and what may be done when one is cut off. */

/** What is known of an operation before it runs. */
export interface Operation {
  /** The function in `ps/*.ps1`. */
  readonly function: string;
  /** A read changes nothing and may be sent again; a change never is. */
  readonly kind: "read" | "change";
  /** How long it may take once it has begun, in seconds. Without one the call's own limit alone holds. */
  readonly limit_s?: number;
}

const READ_LIMIT_S = 60;

/** Every operation by name. */
export const OPERATIONS = {
  probe: { function: "Test-Sidecar", kind: "read", limit_s: 30 },
  disk_facts: { function: "Get-DiskFacts", kind: "read", limit_s: READ_LIMIT_S },
  disk_layers: { function: "Get-DiskLayers", kind: "read", limit_s: READ_LIMIT_S },
  check_disk: { function: "Test-Disk", kind: "read" },
  merge_facts: { function: "Get-MergeFacts", kind: "read", limit_s: READ_LIMIT_S },
  removal_facts: { function: "Get-RemovalFacts", kind: "read", limit_s: READ_LIMIT_S },
  attached_disks: { function: "Get-AttachedDisks", kind: "read", limit_s: READ_LIMIT_S },
  make_disk: { function: "New-VirtualDisk", kind: "change" },
  resize_disk: { function: "Resize-Disk", kind: "change" },
  convert_disk: { function: "Convert-Disk", kind: "change" },
  compact_disk: { function: "Compress-Disk", kind: "change" },
  merge_disk: { function: "Merge-Disk", kind: "change" },
  complete_merge: { function: "Complete-Merge", kind: "change", limit_s: READ_LIMIT_S },
  remove_disk: { function: "Remove-Disk", kind: "change" },
  attach_disk: { function: "Add-Disk", kind: "change" },
  detach_disk: { function: "Remove-AttachedDisk", kind: "change" },
  host_facts: { function: "Get-HostFacts", kind: "read", limit_s: READ_LIMIT_S },
  host_report: { function: "Get-HostReport", kind: "read", limit_s: READ_LIMIT_S },
  list_machines: { function: "Get-Machines", kind: "read", limit_s: READ_LIMIT_S },
  get_machine: { function: "Get-Machine", kind: "read", limit_s: READ_LIMIT_S },
  machine_disks: { function: "Get-MachineDisks", kind: "read", limit_s: READ_LIMIT_S },
  own_folders: { function: "Get-OwnFolders", kind: "read", limit_s: READ_LIMIT_S },
  list_checkpoints: { function: "Get-Checkpoints", kind: "read", limit_s: READ_LIMIT_S },
  ask_guest: { function: "Invoke-Guest", kind: "change" },
  write_secret: { function: "Write-Secret", kind: "change", limit_s: READ_LIMIT_S },
  read_secret: { function: "Read-Secret", kind: "read", limit_s: READ_LIMIT_S },
  remove_secret: { function: "Remove-Secret", kind: "change", limit_s: READ_LIMIT_S },
  make_machine: { function: "New-Machine", kind: "change" },
  take_back_machine: { function: "Remove-Unfinished", kind: "change" },
  start_machine: { function: "Start-Machine", kind: "change" },
  ask_shutdown: { function: "Request-Shutdown", kind: "change", limit_s: READ_LIMIT_S },
  stop_machine: { function: "Stop-Machine", kind: "change" },
  pause_machine: { function: "Suspend-Machine", kind: "change" },
  resume_machine: { function: "Resume-Machine", kind: "change" },
  rename_machine: { function: "Rename-Machine", kind: "change" },
  set_machine: { function: "Set-Machine", kind: "change" },
  machine_settings: { function: "Get-MachineSettings", kind: "read", limit_s: READ_LIMIT_S },
  write_settings: { function: "Set-MachineSettings", kind: "change" },
  image_disk: { function: "Get-ImageDisk", kind: "read", limit_s: READ_LIMIT_S },
  tie_machine: { function: "Register-TiedMachine", kind: "change", limit_s: READ_LIMIT_S },
  export_machine: { function: "Export-Machine", kind: "change" },
  export_facts: { function: "Get-ExportFacts", kind: "read", limit_s: READ_LIMIT_S },
  import_machine: { function: "Import-Machine", kind: "change" },
  copy_machine: { function: "Copy-Machine", kind: "change" },
  remove_machine: { function: "Remove-Machine", kind: "change" },
  remove_stray_folder: { function: "Remove-StrayFolder", kind: "change" },
  list_switches: { function: "Get-Switches", kind: "read", limit_s: READ_LIMIT_S },
  make_switch: { function: "New-Switch", kind: "change" },
  remove_switch: { function: "Remove-Switch", kind: "change" },
  list_adapters: { function: "Get-Adapters", kind: "read", limit_s: READ_LIMIT_S },
  add_adapter: { function: "Add-Adapter", kind: "change" },
  set_adapter: { function: "Set-Adapter", kind: "change" },
  remove_adapter: { function: "Remove-Adapter", kind: "change" },
  list_nats: { function: "Get-Nats", kind: "read", limit_s: READ_LIMIT_S },
  add_switch_nat: { function: "Add-SwitchNat", kind: "change" },
  add_mapping: { function: "Add-NatMapping", kind: "change" },
  remove_mapping: { function: "Remove-NatMapping", kind: "change" },
  list_devices: { function: "Get-Devices", kind: "read", limit_s: READ_LIMIT_S },
  set_dvd: { function: "Set-Dvd", kind: "change" },
  set_serial_port: { function: "Set-SerialPort", kind: "change" },
  set_gpu: { function: "Set-Gpu", kind: "change" },
  make_checkpoint: { function: "New-Checkpoint", kind: "change" },
  reset_checkpoint_type: { function: "Reset-CheckpointType", kind: "change" },
  machine_screen: { function: "Get-Screen", kind: "read", limit_s: READ_LIMIT_S },
  press_keys: { function: "Send-Scancodes", kind: "change", limit_s: READ_LIMIT_S },
  move_pointer: { function: "Move-Pointer", kind: "change", limit_s: READ_LIMIT_S },
  interrupt_machine: { function: "Send-Interrupt", kind: "change", limit_s: READ_LIMIT_S },
  restore_checkpoint: { function: "Restore-Checkpoint", kind: "change" },
  remove_checkpoint: { function: "Remove-Checkpoint", kind: "change" },
  rename_checkpoint: { function: "Rename-Checkpoint", kind: "change" },
  export_checkpoint: { function: "Export-Checkpoint", kind: "change" },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;

/** The names and functions as the loop is told them. */
export function operationFunctions(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [name, operation.function]),
  );
}
