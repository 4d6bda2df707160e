# Whole machines as files. Hyper-V's own export takes the configuration and all disks; what comes back gets an id of its own.

function ConvertTo-FileList([string] $folder) { [object[]] @([IO.Directory]::GetFiles($folder, '*', 'AllDirectories')) }

# Writes a machine into a folder of its name below `folder`. One that runs goes on, and its disks are as after a power cut.
function Export-Machine([string] $vm, [string] $folder) {
    $machine = Wait-Idle $vm
    $live = @{}
    if ('Running', 'Paused' -contains [string] $machine.State) { $live.CaptureLiveState = 'CaptureCrashConsistentState' }
    [void] [IO.Directory]::CreateDirectory($folder)
    Hyper-V\Export-VM -VM $machine -Path $folder @live -ErrorAction Stop
    [void] (Wait-Idle $vm)
    @{ files = ConvertTo-FileList $folder; machine = ConvertTo-MachineFacts $machine }
}

# The one configuration file of an exported machine.
function Find-Configuration([string] $folder) {
    $found = @([IO.Directory]::GetFiles($folder, '*.vmcx', 'AllDirectories') | Where-Object { [IO.Path]::GetFileName([IO.Path]::GetDirectoryName($_)) -eq 'Virtual Machines' })
    if ($found.Count -eq 1) { return $found[0] }
    Stop-Operation 'hv.bad_image' "The folder holds $($found.Count) configurations of VMs: wanted 1" 'Name a folder that holds one exported VM' @{ path = $folder; reason = 'configuration' }
}

# Why Hyper-V does not take a machine in, in its own words; nothing when it does not tell.
function Get-Incompatibilities([hashtable] $import) {
    try { @((Hyper-V\Compare-VM @import -ErrorAction Stop).Incompatibilities | ForEach-Object { ([string] $_.Message).Split("`n")[0] }) }
    catch { Write-Verbose $_.Exception.Message }
}

# Every disk of the machine and all that it hangs on must lie in its own folder: a configuration from elsewhere may name any file.
function Assert-OwnDisks($machine, [string] $home_folder) {
    $seen = Get-DiskChains ([string[]] @(Get-DiskPaths $machine))
    $foreign = @($seen.chains.Values | ForEach-Object { $_ } | Where-Object { -not (Test-Inside $_ $home_folder) })
    if ($foreign.Count) { Stop-Operation 'hv.bad_image' 'The exported VM leads to a disk outside its folder' 'Name a folder that `hvlab vm export` wrote, unchanged since' @{ path = $foreign[0]; reason = 'foreign_disk' } }
    if ($seen.unread.Count) { Stop-Operation 'hv.bad_image' 'A disk of the exported VM cannot be read' 'Name a folder that `hvlab vm export` wrote, unchanged since' @{ path = $seen.unread[0]; reason = 'disk' } }
}

# Makes a machine of an exported folder: under its passing name first, without checkpoints, without a disc, and without saved
# memory unless that is the point of it. What a failure leaves behind is taken away by Remove-Unfinished.
function Import-Machine([string] $passing, [string] $name, [string] $folder, [string] $notes, [string] $final_notes, [bool] $keep_memory) {
    $server = Get-Server
    $home_folder = [IO.Path]::Combine((Get-MachinesFolder), $passing)
    $configuration = Find-Configuration $folder
    $disks = [IO.Path]::Combine([IO.Path]::GetDirectoryName([IO.Path]::GetDirectoryName($configuration)), 'Virtual Hard Disks')
    $import = @{
        Path = $configuration
        Copy = $true
        GenerateNewId = $true
        VirtualMachinePath = $home_folder
        SnapshotFilePath = $home_folder
        SmartPagingFilePath = $home_folder
        VhdDestinationPath = [IO.Path]::Combine($home_folder, 'Virtual Hard Disks')
    }
    if ([IO.Directory]::Exists($disks)) { $import.VhdSourcePath = $disks }
    [void] [IO.Directory]::CreateDirectory($home_folder)
    Write-Progress -Activity 'copying the VM' -Status ' '
    try { $machine = Hyper-V\Import-VM @import @server -ErrorAction Stop 3> $null }
    catch {
        $failure = $_
        $reasons = @(Get-Incompatibilities $import)
        if ($reasons.Count) { Stop-Operation 'hv.conflict' "Hyper-V does not take the VM in: $($reasons[0].TrimEnd('.'))" 'Make what it lacks, such as a switch of the same name, then try again' @{ wanted = 'a fitting host'; found = $reasons[0]; incompatibilities = [object[]] $reasons } }
        throw $failure
    }
    $vm = ([string] $machine.Id).ToLowerInvariant()
    $text = ([string] $machine.Notes -replace '\[hvlab(-[a-z]+)?;[^\]]*\]', '').Trim()
    Hyper-V\Rename-VM -VM $machine -NewName $passing -ErrorAction Stop
    Hyper-V\Set-VM -VM $machine -Notes "$notes $text".Trim() -ErrorAction Stop
    if (-not $keep_memory -and 'Saved', 'FastSaved' -contains [string] $machine.State) { Hyper-V\Remove-VMSavedState -VM $machine -ErrorAction Stop }
    foreach ($checkpoint in @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop)) { Hyper-V\Remove-VMSnapshot -VMSnapshot $checkpoint -ErrorAction Stop }
    $machine = Wait-Idle $vm
    Assert-OwnDisks $machine $home_folder
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
    $made = Import-Machine $passing $name $export $notes $final_notes $false
    [IO.Directory]::Delete($export, $true)
    $made
}
