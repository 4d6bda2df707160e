# Virtual disks: files, their chains, and disks of machines. Paths are full ones. A file that is being made has a passing name
# beside its place, so that a disk is there whole or not at all.

function ConvertTo-DiskFacts($disk) {
    $parent = [string] $disk.ParentPath
    @{
        path = [string] $disk.Path
        format = ([string] $disk.VhdFormat).ToLowerInvariant()
        type = ([string] $disk.VhdType).ToLowerInvariant()
        size = [string] $disk.Size
        file_size = [string] $disk.FileSize
        parent = $(if ($parent) { $parent } else { $null })
    }
}

# The disk of a file. One that Hyper-V cannot read is told apart from one that is not there, and from one that may not be read.
function Find-Disk([string] $path) {
    $server = Get-Server
    try { return Hyper-V\Get-VHD -Path $path @server -ErrorAction Stop }
    catch {
        if (Test-NotFound $_) { Stop-Operation 'hv.not_found' "There is no disk `"$path`"" 'Check the path' @{ path = $path } }
        if ('ResourceBusy', 'PermissionDenied' -contains [string] $_.CategoryInfo.Category -or (Get-FailureCause $_)) { throw }
        Stop-Operation 'hv.bad_image' "Hyper-V cannot read `"$path`" as a disk: $($_.Exception.Message.Split("`n")[0])" 'Give another file, or make it anew' @{ path = $path; reason = 'unreadable' }
    }
}

function Get-DiskFacts([string] $path) { @{ disk = ConvertTo-DiskFacts (Find-Disk $path) } }

# What Test-VHD finds wrong with a disk and all that it hangs on; nothing when it is sound.
function Get-DiskFault([string] $path) {
    $server = Get-Server
    try {
        [void] (Hyper-V\Test-VHD -Path $path @server -ErrorAction Stop)
        return
    }
    catch { $message = [string] $_.Exception.Message }
    $fault = 'unreadable'
    if ($message -match '0xC03A000D|0x80070002|0x80070003') { $fault = 'missing' }
    if ($message -match '0xC03A000E|0xC03A000F') { $fault = 'mismatched' }
    if ($message -match '0xC03A0018') { $fault = 'looped' }
    @{ fault = $fault; message = $message.Trim().Split("`n")[-1].Trim() }
}

# A disk and its parents as far as they are there. `at` is the layer that is wrong.
function Get-DiskLayers([string] $path) {
    $disk = Find-Disk $path
    $layers = @(ConvertTo-DiskFacts $disk)
    $seen = @([string] $disk.Path)
    $broken = $null
    while ($layers[-1].parent -and -not $broken) {
        $parent = [string] $layers[-1].parent
        if ($seen -contains $parent) { $broken = @{ fault = 'looped'; message = 'It is in this chain already'; at = $layers.Count } }
        elseif ($layers.Count -ge 200) { $broken = @{ fault = 'too_deep'; message = 'The chain has more than 200 layers'; at = $layers.Count } }
        if ($broken) { $layers += @{ path = $parent; format = $null; type = $null; size = $null; file_size = $null; parent = $null }; break }
        $seen += $parent
        try { $layers += ConvertTo-DiskFacts (Find-Disk $parent) }
        catch {
            $fault = $(if ($_.Exception.Data['hvlab'] -and $_.Exception.Data['hvlab'].code -eq 'hv.not_found') { 'missing' } else { 'unreadable' })
            $layers += @{ path = $parent; format = $null; type = $null; size = $null; file_size = $null; parent = $null }
            $broken = @{ fault = $fault; message = $_.Exception.Message.Split("`n")[0]; at = $layers.Count - 1 }
        }
    }
    if (-not $broken) {
        # The deepest disk that is not sound names the one below it.
        $fault = Get-DiskFault $seen[0]
        for ($at = $seen.Count - 2; $fault -and $at -ge 0; $at--) {
            $found = Get-DiskFault $seen[$at]
            if (-not $found) { continue }
            $broken = @{ fault = $found.fault; message = $found.message; at = $at + 1 }
            break
        }
        if ($fault -and -not $broken) { $broken = @{ fault = $fault.fault; message = $fault.message; at = 0 } }
    }
    @{ layers = [object[]] $layers; broken = $broken }
}

function Test-Disk([string] $path) {
    $disk = Find-Disk $path
    $fault = Get-DiskFault $path
    @{ disk = ConvertTo-DiskFacts $disk; broken = $fault }
}

# Makes a file under a passing name and gives it its own when it is whole. The block sees these variables before its own, so they
# have names that no other function gives.
function New-WholeFile([string] $whole_place, [bool] $whole_overwrite, [scriptblock] $whole_fill) {
    $whole_folder = [IO.Path]::GetDirectoryName($whole_place)
    if (-not [IO.Directory]::Exists($whole_folder)) { Stop-Operation 'hv.not_found' "There is no folder `"$whole_folder`"" 'Make it first' @{ path = $whole_folder } }
    if ([IO.Directory]::Exists($whole_place) -or ([IO.File]::Exists($whole_place) -and -not $whole_overwrite)) {
        Stop-Operation 'hv.conflict' "`"$whole_place`" is there already" 'Name another file, or give --overwrite' @{ path = $whole_place; wanted = 'absent'; found = 'present' }
    }
    $whole_passing = [IO.Path]::Combine($whole_folder, '.hvlab-new-' + [IO.Path]::GetFileName($whole_place))
    [IO.File]::Delete($whole_passing)
    try {
        & $whole_fill $whole_passing
        if ($whole_overwrite) { [IO.File]::Delete($whole_place) }
        [IO.File]::Move($whole_passing, $whole_place)
    }
    finally { [IO.File]::Delete($whole_passing) }
}

function New-VirtualDisk([string] $path, [string] $type, $size, $parent, [bool] $overwrite) {
    if ($overwrite -and [IO.File]::Exists($path)) { Assert-DiskFree $path 'replace' '' }
    $server = Get-Server
    $kind = @{}
    if ($parent) {
        [void] (Find-Disk ([string] $parent))
        if (@((Get-DiskChains @([string] $parent)).chains[[string] $parent]) -contains $path) {
            Stop-Operation 'hv.usage' "`"$path`" would hang on itself" 'Name another parent, or another file for the new disk' @{ path = $path; parent = [string] $parent }
        }
        $kind.ParentPath = [string] $parent
        $kind.Differencing = $true
    }
    else {
        $kind.SizeBytes = [uint64] $size
        $kind[$(if ($type -eq 'fixed') { 'Fixed' } else { 'Dynamic' })] = $true
    }
    Write-Progress -Activity 'making the disk' -Status ' '
    New-WholeFile $path $overwrite { param($passing) [void] (Hyper-V\New-VHD -Path $passing @kind @server -ErrorAction Stop) }
    Get-DiskFacts $path
}

function Resize-Disk([string] $path, [string] $size) {
    $server = Get-Server
    $disk = Find-Disk $path
    if ([uint64] $disk.Size -gt [uint64] $size) { Stop-Operation 'hv.usage' "`"$path`" has $($disk.Size) bytes, and $size are fewer" 'A disk only grows' @{ path = $path; found = [string] $disk.Size; wanted = $size } }
    if ([uint64] $disk.Size -eq [uint64] $size) { return Get-DiskFacts $path }
    Assert-NoChild $path 'grow' ''
    Hyper-V\Resize-VHD -Path $path -SizeBytes ([uint64] $size) @server -ErrorAction Stop
    $after = Find-Disk $path
    if ([uint64] $after.Size -ne [uint64] $size) { Stop-Operation 'hv.job_failed' "Hyper-V reported success, but the disk has $($after.Size) bytes" 'Look at the disk again' @{ path = $path } }
    @{ disk = ConvertTo-DiskFacts $after }
}

function Convert-Disk([string] $path, [string] $target, [string] $type, [bool] $overwrite) {
    $server = Get-Server
    [void] (Find-Disk $path)
    if ($path -eq $target) { Stop-Operation 'hv.usage' 'The target is the disk itself' 'Name another target' @{ path = $path } }
    if ([IO.File]::Exists($target) -and @((Get-DiskChains @($path)).chains[$path]) -contains $target) {
        Stop-Operation 'hv.usage' "`"$path`" hangs on the target" 'Name another target, or merge the disk with `hvlab disk merge`' @{ path = $path; target = $target }
    }
    if ($overwrite -and [IO.File]::Exists($target)) { Assert-DiskFree $target 'replace' '' }
    $kind = $(if ($type -eq 'fixed') { 'Fixed' } else { 'Dynamic' })
    Write-Progress -Activity 'converting the disk' -Status ' '
    New-WholeFile $target $overwrite { param($passing) Hyper-V\Convert-VHD -Path $path -DestinationPath $passing -VHDType $kind @server -ErrorAction Stop }
    Get-DiskFacts $target
}

function Compress-Disk([string] $path) {
    $server = Get-Server
    [void] (Find-Disk $path)
    Assert-NoChild $path 'compact' ''
    Write-Progress -Activity 'compacting the disk' -Status ' '
    Hyper-V\Optimize-VHD -Path $path @server -ErrorAction Stop
    Get-DiskFacts $path
}

# Every disk of every machine and checkpoint, with the machine and what it hangs on.
function Get-UsedDisks {
    $server = Get-Server
    $used = @(foreach ($machine in @(Hyper-V\Get-VM -Name '*' @server -ErrorAction Stop)) {
        foreach ($path in @(Get-DiskPaths $machine)) { @{ path = $path; name = [string] $machine.Name; vm = ([string] $machine.Id).ToLowerInvariant(); state = [string] $machine.State } }
    })
    $chains = @{}
    if ($used.Count) { $chains = (Get-DiskChains @($used | ForEach-Object { $_.path } | Sort-Object -Unique)).chains }
    foreach ($one in $used) { $one.chain = @($chains[$one.path]) }
    $used
}

# What lets go of a disk, by those who need it. Disks that checkpoints have made cannot be taken away one by one.
function Get-FreeingHint([object[]] $users) {
    $vm = 'vm-' + $users[0].vm
    if (@($users | Where-Object { $_.vm -eq $users[0].vm -and $_.path -match '\.avhdx?$' }).Count) { return "Its checkpoints hold it; see them with ``hvlab checkpoint list $vm``, and delete them first" }
    "Detach `"$($users[0].path)`" first, with ``hvlab disk detach $vm FILE``"
}

# Refuses when a disk of a machine hangs on this one: it would be nonsense afterwards. `except` is a disk that may.
function Assert-NoChild([string] $path, [string] $action, [string] $except) {
    $leaning = @(Get-UsedDisks | Where-Object { $_.path -ne $path -and $_.path -ne $except -and $_.chain -contains $path })
    if (-not $leaning.Count) { return }
    Stop-Operation 'hv.conflict' "Cannot $action `"$path`": the disk `"$($leaning[0].path)`" of the VM `"$($leaning[0].name)`" hangs on it" (Get-FreeingHint $leaning) @{ path = $path; children = @($leaning | ForEach-Object { $_.path }); vm = 'vm-' + $leaning[0].vm; wanted = 'no children'; found = 'in use' }
}

# Refuses when any machine has the disk, or a disk that hangs on it.
function Assert-DiskFree([string] $path, [string] $action, [string] $except) {
    $users = @(Get-UsedDisks | Where-Object { $_.path -ne $except -and $_.chain -contains $path })
    if (-not $users.Count) { return }
    Stop-Operation 'hv.conflict' "Cannot $action `"$path`": the VM `"$($users[0].name)`" needs it" (Get-FreeingHint $users) @{ path = $path; vm = 'vm-' + $users[0].vm; name = $users[0].name; wanted = 'not in use'; found = 'in use' }
}

# What a merge would do, and what stands in its way.
function Find-Merge([string] $path) {
    $disk = Find-Disk $path
    $parent = [string] $disk.ParentPath
    if (-not $parent) { Stop-Operation 'hv.usage' "`"$path`" hangs on no other disk, so there is nothing to merge it into" 'See what a disk hangs on with `hvlab disk chain`' @{ path = $path } }
    $used = @(Get-UsedDisks)
    $owners = @($used | Where-Object { $_.path -eq $path })
    $holders = @($used | Where-Object { $_.path -eq $parent })
    if ($holders.Count) {
        $facts = @{ path = $parent; vm = 'vm-' + $holders[0].vm; wanted = 'not in use'; found = 'in use' }
        if (@($owners | Where-Object { $_.vm -eq $holders[0].vm }).Count) {
            Stop-Operation 'hv.conflict' "Cannot merge `"$path`": a checkpoint of the VM `"$($holders[0].name)`" has its parent" "Delete the checkpoint with ``hvlab checkpoint delete $($facts.vm) CHECKPOINT``: Hyper-V merges its disks by itself, while the VM runs too" $facts
        }
        Stop-Operation 'hv.conflict' "Cannot merge `"$path`": the VM `"$($holders[0].name)`" has its parent" (Get-FreeingHint $holders) $facts
    }
    $awake = @($owners | Where-Object { 'Off' -ne $_.state })
    if ($awake.Count) {
        $state = $awake[0].state.ToLowerInvariant()
        Stop-Operation 'hv.conflict' "Cannot merge `"$path`" while the VM `"$($awake[0].name)`" is $($state): Hyper-V merges such a disk only while nobody has it open" "Stop the VM with ``hvlab vm stop vm-$($awake[0].vm)``, then merge" @{ path = $path; vm = 'vm-' + $awake[0].vm; wanted = 'off'; found = $state }
    }
    Assert-NoChild $path 'merge' ''
    Assert-NoChild $parent 'merge into' $path
    @{ disk = $disk; parent = $parent; owners = [object[]] @($owners | ForEach-Object { $_.vm } | Sort-Object -Unique) }
}

function Get-MergeFacts([string] $path) {
    $found = Find-Merge $path
    @{ disk = ConvertTo-DiskFacts $found.disk; parent = $found.parent; owners = $found.owners }
}

function Merge-Disk([string] $path) {
    $server = Get-Server
    $found = Find-Merge $path
    $failure = $null
    Write-Progress -Activity 'merging disks' -Status ' '
    try { Hyper-V\Merge-VHD -Path $path -DestinationPath $found.parent -Force @server -ErrorAction Stop }
    catch { $failure = $_ }
    # Merge-VHD takes the merged disk away; one that is still there was not merged.
    if ([IO.File]::Exists($path)) {
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the merged disk is still there' 'Look at both disks before doing anything again' @{ path = $path; parent = $found.parent }
    }
    Complete-Merge $path $found.parent $found.owners
}

# Gives the machines that still have a merged disk the one that it was merged into. May be called again.
function Complete-Merge([string] $path, [string] $parent, [string[]] $owners) {
    $server = Get-Server
    $present = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction Stop | ForEach-Object { ([string] $_.Id).ToLowerInvariant() })
    foreach ($vm in @($owners | Where-Object { $present -contains $_ })) {
        foreach ($drive in @(Find-Drives $vm $path)) { Hyper-V\Set-VMHardDiskDrive -VMHardDiskDrive $drive -Path $parent -ErrorAction Stop }
        if (@(Find-Drives $vm $path).Count) { Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM still has the disk that was merged' "Look at it with ``hvlab vm get vm-$vm``, then try again" @{ path = $path; parent = $parent; vm = "vm-$vm" } }
    }
    @{ disk = ConvertTo-DiskFacts (Find-Disk $parent); removed = $path }
}

function Find-Drives([string] $vm, [string] $path) { Hyper-V\Get-VMHardDiskDrive -VM (Find-Machine $vm) -ErrorAction Stop | Where-Object { [string] $_.Path -eq $path } }

function Get-RemovalFacts([string] $path) {
    $disk = Find-Disk $path
    Assert-DiskFree $path 'remove' ''
    @{ disk = ConvertTo-DiskFacts $disk }
}

function Remove-Disk([string] $path) {
    [void] (Get-RemovalFacts $path)
    [IO.File]::Delete($path)
    @{ path = $path; removed = -not [IO.File]::Exists($path) }
}

# The disks of a machine as it has them now.
function Get-AttachedDisks([string] $vm) {
    $machine = Find-Machine $vm
    $drives = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | Where-Object { $_.Path } | ForEach-Object {
        @{ path = [string] $_.Path; device = "$($_.ControllerType) $($_.ControllerNumber):$($_.ControllerLocation)" }
    })
    @{ drives = [object[]] $drives; runs = 'Off', 'Saved' -notcontains [string] $machine.State }
}

function Add-Disk([string] $vm, [string] $path) {
    $machine = Wait-Idle $vm
    $disk = Find-Disk $path
    $path = [string] $disk.Path
    if (@(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | Where-Object { [string] $_.Path -eq $path }).Count) { return @{ path = $path } }
    if ([string] $machine.State -eq 'Saved') { Stop-WrongState $vm 'saved' 'running or off' 'Start it first: its memory fits only the machine with the disks that it had' }
    $chain = Get-DiskLayers $path
    if ($chain.broken) { Stop-Operation 'hv.bad_image' "The chain of `"$path`" is broken at `"$($chain.layers[$chain.broken.at].path)`": $($chain.broken.message)" 'See its layers with `hvlab disk chain`' @{ path = $path; reason = $chain.broken.fault } }
    Assert-DiskFree $path 'attach' ''
    $failure = $null
    # Only SCSI takes a disk while the machine runs, and each machine has such a controller.
    try { Hyper-V\Add-VMHardDiskDrive -VM $machine -ControllerType SCSI -Path $path -ErrorAction Stop }
    catch { $failure = $_ }
    $there = @(Hyper-V\Get-VMHardDiskDrive -VM (Find-Machine $vm) -ErrorAction Stop | Where-Object { [string] $_.Path -eq $path })
    if ($there.Count) { return @{ path = $path } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM does not have the disk' "Look at it with ``hvlab vm get vm-$vm``, then try again" @{ path = $path }
}

function Remove-AttachedDisk([string] $vm, [string] $path) {
    $machine = Wait-Idle $vm
    $drives = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop)
    $found = @($drives | Where-Object { [string] $_.Path -eq $path })
    if (-not $found.Count) {
        $known = @($drives | ForEach-Object { [string] $_.Path })
        Stop-Operation 'hv.not_found' "The VM has no disk `"$path`"" ('It has ' + ($known -join ', ')) @{ path = $path; known = $known }
    }
    $failure = $null
    try { Hyper-V\Remove-VMHardDiskDrive -VMHardDiskDrive $found[0] -ErrorAction Stop }
    catch { $failure = $_ }
    $left = @(Hyper-V\Get-VMHardDiskDrive -VM (Find-Machine $vm) -ErrorAction Stop | Where-Object { [string] $_.Path -eq $path })
    if (-not $left.Count) { return @{ path = $path } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM still has the disk' "Look at it with ``hvlab vm get vm-$vm``, then try again" @{ path = $path }
}
