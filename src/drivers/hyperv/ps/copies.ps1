# Whole machines as files. Hyper-V's own export takes the configuration and all disks; what comes back gets an id of its own.

function ConvertTo-FileList([string] $folder) { [object[]] @([IO.Directory]::GetFiles($folder, '*', 'AllDirectories')) }

# An export puts every disk, with all that it hangs on, into one folder, and so is cut off by a name that comes twice.
function Assert-DistinctFiles($machine) {
    $paths = @((Get-DiskChains ([string[]] @(Get-DiskPaths $machine))).chains.Values | ForEach-Object { $_ } | Sort-Object -Unique)
    $twins = @($paths | Group-Object { [IO.Path]::GetFileName($_) } | Where-Object { $_.Count -gt 1 } | ForEach-Object { $_.Group })
    if (-not $twins.Count) { return }
    $vm = 'vm-' + ([string] $machine.Id).ToLowerInvariant()
    $names = '"' + ($twins[0..1] -join '" and "') + '"'
    Stop-Operation 'hv.conflict' "Hyper-V cannot copy the VM: its disks $names would be one file" "Detach one of them with ``hvlab disk detach $vm FILE``, after deleting the checkpoints that hold it, and give it another name" @{ vm = $vm; paths = [object[]] $twins; wanted = 'file names that differ'; found = [IO.Path]::GetFileName($twins[0]) }
}

# Writes a machine into a folder of its name below `folder`. One that runs goes on, and its disks are as after a power cut.
function Export-Machine([string] $vm, [string] $folder) {
    $machine = Wait-Idle $vm
    Assert-DistinctFiles $machine
    $live = @{}
    if ('Running', 'Paused' -contains [string] $machine.State) { $live.CaptureLiveState = 'CaptureCrashConsistentState' }
    [void] [IO.Directory]::CreateDirectory($folder)
    Hyper-V\Export-VM -VM $machine -Path $folder @live -ErrorAction Stop
    [void] (Wait-Idle $vm)
    @{ files = ConvertTo-FileList $folder; machine = ConvertTo-MachineFacts $machine }
}

# The one configuration file of an exported machine. Exports are a folder of the machine's name, or the folder above it.
function Find-Configuration([string] $folder) {
    $found = @()
    if ([IO.Directory]::Exists($folder)) {
        foreach ($place in @($folder) + @([IO.Directory]::GetDirectories($folder))) {
            $within = [IO.Path]::Combine($place, 'Virtual Machines')
            if ([IO.Directory]::Exists($within)) { $found += @([IO.Directory]::GetFiles($within, '*.vmcx')) }
        }
    }
    if ($found.Count -eq 1) { return $found[0] }
    Stop-Operation 'hv.bad_image' "`"$folder`" holds $($found.Count) configurations of VMs: wanted 1" 'Name a folder that holds one exported VM' @{ path = $folder; reason = 'configuration' }
}

# How an exported machine is taken in: as a copy with an id of its own, in a folder of ours.
function Get-ImportParameters([string] $configuration, [string] $home_folder) {
    $import = @{
        Path = $configuration
        Copy = $true
        GenerateNewId = $true
        VirtualMachinePath = $home_folder
        SnapshotFilePath = $home_folder
        SmartPagingFilePath = $home_folder
        VhdDestinationPath = [IO.Path]::Combine($home_folder, 'Virtual Hard Disks')
    }
    $disks = Get-ExportedDisksFolder $configuration
    if ([IO.Directory]::Exists($disks)) { $import.VhdSourcePath = $disks }
    $import
}

function Get-ExportedDisksFolder([string] $configuration) { [IO.Path]::Combine([IO.Path]::GetDirectoryName([IO.Path]::GetDirectoryName($configuration)), 'Virtual Hard Disks') }

# What Hyper-V says of an exported machine before it takes it in.
function Get-ExportFacts([string] $folder) {
    $server = Get-Server
    $passing = [IO.Path]::Combine((Get-MachinesFolder), 'hvlab-' + [Guid]::NewGuid())
    $import = Get-ImportParameters (Find-Configuration $folder) $passing
    $report = Hyper-V\Compare-VM @import @server -ErrorAction Stop 3> $null
    try { @{ name = [string] $report.VM.Name; memory_startup = [string] $report.VM.MemoryStartup; cpus = [int] $report.VM.ProcessorCount } }
    finally { Remove-PlannedMachine $report }
}

# Hyper-V keeps a machine that it has compared, unseen, until its service starts anew. It is of a class of its own, so that no
# other machine can be meant.
function Remove-PlannedMachine($report) {
    try {
        $id = ([string] $report.VM.Id).ToUpperInvariant()
        $planned = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_PlannedComputerSystem -Filter ("Name='" + $id + "'") -ErrorAction Stop)
        if (-not $planned.Count) { return }
        $service = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_VirtualSystemManagementService -ErrorAction Stop)[0]
        [void] (Invoke-CimMethod -InputObject $service -MethodName DestroySystem -Arguments @{ AffectedSystem = $planned[0] } -ErrorAction Stop)
    }
    catch { Write-Verbose $_.Exception.Message }
}

# What stands in the way of an import, in Hyper-V's own words and numbers.
function Get-Incompatibilities($report) { @($report.Incompatibilities | ForEach-Object { @{ id = [int] $_.MessageId; message = ([string] $_.Message).Split("`n")[0].Trim() } }) }

function Stop-Incompatible([object[]] $reasons) {
    Stop-Operation 'hv.conflict' "Hyper-V does not take the VM in: $($reasons[0].message.TrimEnd('.'))" 'Make what it lacks, such as a switch of the same name, then try again' @{ wanted = 'a fitting host'; found = $reasons[0].message; incompatibilities = $reasons }
}

# Compares before anything is copied.
function Compare-Export([hashtable] $import) {
    $server = Get-Server
    $report = Hyper-V\Compare-VM @import @server -ErrorAction Stop 3> $null
    $reasons = @(Get-Incompatibilities $report)
    if (-not $reasons.Count) { return $report }
    Remove-PlannedMachine $report
    Stop-Incompatible $reasons
}

# Hyper-V's failure to import, explained where comparing tells more.
function Stop-Import($failure, [hashtable] $import) {
    $server = Get-Server
    $reasons = @()
    try {
        $report = Hyper-V\Compare-VM @import @server -ErrorAction Stop 3> $null
        $reasons = @(Get-Incompatibilities $report)
        Remove-PlannedMachine $report
    }
    catch { Write-Verbose $_.Exception.Message }
    if ($reasons.Count) { Stop-Incompatible $reasons }
    throw $failure
}

# Every disk of the machine and its checkpoints, with all that it hangs on, must lie in its own folder and come from the exported
# one: a configuration from elsewhere may name any file of this host.
function Assert-OwnDisks($machine, [string] $home_folder, [string] $source) {
    $seen = Get-DiskChains ([string[]] @(Get-DiskPaths $machine))
    $paths = @($seen.chains.Values | ForEach-Object { $_ } | Sort-Object -Unique)
    $foreign = @($paths | Where-Object { -not (Test-Inside $_ $home_folder) -or -not [IO.File]::Exists([IO.Path]::Combine($source, [IO.Path]::GetFileName($_))) })
    if ($foreign.Count) { Stop-Operation 'hv.bad_image' 'The exported VM leads to a disk outside its folder' 'Name a folder as it was exported, unchanged since' @{ path = $foreign[0]; reason = 'foreign_disk' } }
    if ($seen.unread.Count) { Stop-Operation 'hv.bad_image' 'A disk of the exported VM cannot be read' 'Name a folder as it was exported, unchanged since' @{ path = $seen.unread[0]; reason = 'disk' } }
}

# Makes a machine of an exported folder: under its passing name first, without checkpoints, without a disc, and without saved
# memory unless that is the point of it. What a failure leaves behind is taken away by Remove-Unfinished.
function Import-Machine([string] $passing, [string] $name, [string] $folder, [string] $notes, [string] $final_notes, [bool] $keep_memory, [bool] $compare) {
    $server = Get-Server
    $home_folder = [IO.Path]::Combine((Get-MachinesFolder), $passing)
    $import = Get-ImportParameters (Find-Configuration $folder) $home_folder
    [void] [IO.Directory]::CreateDirectory($home_folder)
    $report = $null
    if ($compare) { $report = Compare-Export $import }
    Write-Progress -Activity 'copying the VM' -Status ' '
    try {
        if ($report) { $machine = Hyper-V\Import-VM -CompatibilityReport $report -ErrorAction Stop 3> $null }
        else { $machine = Hyper-V\Import-VM @import @server -ErrorAction Stop 3> $null }
    }
    catch {
        $failure = $_
        if ($report) { Remove-PlannedMachine $report }
        Stop-Import $failure $import
    }
    $vm = ([string] $machine.Id).ToLowerInvariant()
    $text = ([string] $machine.Notes -replace '\[hvlab(-[a-z]+)?;[^\]]*\]', '').Trim()
    Hyper-V\Rename-VM -VM $machine -NewName $passing -ErrorAction Stop
    Hyper-V\Set-VM -VM $machine -Notes "$notes $text".Trim() -ErrorAction Stop
    # Before checkpoints go, since that writes to the disks below.
    Assert-OwnDisks $machine $home_folder (Get-ExportedDisksFolder $import.Path)
    if (-not $keep_memory -and 'Saved', 'FastSaved' -contains [string] $machine.State) { Hyper-V\Remove-VMSavedState -VM $machine -ErrorAction Stop }
    foreach ($checkpoint in @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop)) { Hyper-V\Remove-VMSnapshot -VMSnapshot $checkpoint -ErrorAction Stop }
    $machine = Wait-Idle $vm
    foreach ($drive in @(Hyper-V\Get-VMDvdDrive -VM $machine -ErrorAction Stop | Where-Object { $_.Path })) { Hyper-V\Set-VMDvdDrive -VMDvdDrive $drive -Path $null -ErrorAction Stop }
    Hyper-V\Rename-VM -VM $machine -NewName $name -ErrorAction Stop
    Hyper-V\Set-VM -VM $machine -Notes "$final_notes $text".Trim() -ErrorAction Stop
    @{ machine = ConvertTo-MachineFacts (Find-Machine $vm) }
}

# Makes a machine with the disks of another one. Hyper-V copies machines only through an export, which goes when it is done.
function Copy-Machine([string] $vm, [string] $passing, [string] $name, [string] $notes, [string] $final_notes) {
    $export = [IO.Path]::Combine((Get-MachinesFolder), $passing, 'export')
    Write-Progress -Activity 'exporting the VM' -Status ' '
    [void] (Export-Machine $vm $export)
    $made = Import-Machine $passing $name $export $notes $final_notes $false $false
    [IO.Directory]::Delete($export, $true)
    $made
}
