# Removing: machines, what was left half-made, and folders of ours. A folder goes only when it bears one of our names, lies right
# below the machines' folder, was not kept on purpose, and no disk of another machine lies in it or hangs on one that does.

$script:KeptMark = 'kept.txt'

# Removes a folder of ours and gives the files that were in it.
function Remove-OwnFolder([string] $folder) {
    $root = [IO.Path]::GetFullPath((Get-MachinesFolder)).TrimEnd('\', '/')
    $full = [IO.Path]::GetFullPath($folder).TrimEnd('\', '/')
    if ([IO.Path]::GetDirectoryName($full) -ne $root -or [IO.Path]::GetFileName($full) -notmatch '^hvlab-[0-9a-f-]{36}$') { return }
    if (-not [IO.Directory]::Exists($full) -or [IO.File]::Exists([IO.Path]::Combine($full, $script:KeptMark))) { return }
    $files = @([IO.Directory]::GetFiles($full, '*', 'AllDirectories'))
    [IO.Directory]::Delete($full, $true)
    $files
}

function Test-Inside([string] $path, [string] $folder) {
    $path -eq $folder -or $path.StartsWith($folder.TrimEnd('\', '/') + [IO.Path]::DirectorySeparatorChar, [StringComparison]::OrdinalIgnoreCase)
}

# The machines that one making left behind: by its passing name, by the key in their notes, or by the folder that they lie in.
# Fails when machines cannot be seen, since there may be one then.
function Find-Unfinished([string] $passing) {
    $server = Get-Server
    $machines = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue)
    if (-not $machines.Count) { Assert-Sight }
    $machines |
        Where-Object { [string] $_.Name -ceq $passing -or ([string] $_.Notes).Contains("key=$passing;") -or [IO.Path]::GetFileName([string] $_.Path) -eq $passing }
}

# Takes back what a making has made, and looks whether it is gone. May be called again.
function Remove-Unfinished([string] $passing) {
    $left = @()
    foreach ($machine in @(Find-Unfinished $passing)) {
        $id = [string] $machine.Id
        try {
            if ('Off', 'Saved' -notcontains [string] $machine.State) { Hyper-V\Stop-VM -VM $machine -TurnOff -Force -ErrorAction Stop 3> $null }
            Hyper-V\Remove-VM -VM $machine -Force -ErrorAction Stop
        }
        catch { $left += "VM $($id): $($_.Exception.Message.Split("`n")[0])" }
    }
    $folder = [IO.Path]::Combine((Get-MachinesFolder), $passing)
    if (-not @(Find-Unfinished $passing).Count) {
        try { [void] (Remove-OwnFolder $folder) }
        catch { $left += "$($folder): $($_.Exception.Message)" }
    }
    if ([IO.Directory]::Exists($folder) -and -not $left.Count) { $left += $folder }
    @{ left = [object[]] $left }
}

# The disks of a machine and of its checkpoints.
function Get-DiskPaths($machine) {
    $paths = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | ForEach-Object { [string] $_.Path })
    foreach ($checkpoint in @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop)) {
        $paths += @(Hyper-V\Get-VMHardDiskDrive -VMSnapshot $checkpoint -ErrorAction Stop | ForEach-Object { [string] $_.Path })
    }
    @($paths | Where-Object { $_ } | Sort-Object -Unique)
}

# Each disk with all that it hangs on, one look for each generation of disks and none for each disk. `unread` names disks whose
# parent cannot be told.
function Get-DiskChains([string[]] $paths) {
    $server = Get-Server
    $chains = @{}
    $parents = @{}
    $unread = @()
    # A physical disk stands there with words in the place of a path, and hangs on nothing.
    $look = @($paths | Where-Object { $_ -match '\.a?vhd[xs]?$' })
    while ($look.Count) {
        $failures = @()
        foreach ($disk in @(Hyper-V\Get-VHD -Path $look @server -ErrorAction SilentlyContinue -ErrorVariable failures)) { $parents[[string] $disk.Path] = [string] $disk.ParentPath }
        $unread += @($look | Where-Object { -not $parents.ContainsKey($_) })
        $look = @($look | Where-Object { $parents[$_] -and -not $parents.ContainsKey($parents[$_]) } | ForEach-Object { $parents[$_] } | Where-Object { $unread -notcontains $_ } | Sort-Object -Unique)
    }
    foreach ($path in $paths) {
        $chain = @($path)
        for ($at = $parents[$path]; $at -and $chain -notcontains $at; $at = $parents[$at]) { $chain += $at }
        $chains[$path] = $chain
    }
    @{ chains = $chains; unread = @($unread) }
}

# The other machines whose disks lie in a folder or hang on one that does, and disks of which that cannot be told.
function Get-Dependants([string] $folder, [string] $except) {
    $server = Get-Server
    $owners = @{}
    $dependants = @()
    $failures = @()
    $machines = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue -ErrorVariable failures | Where-Object { ([string] $_.Id) -ne $except })
    $names = @{}
    foreach ($machine in $machines) { $names[[string] $machine.Id] = [string] $machine.Name }
    if ($machines.Count) {
        $drives = @(Hyper-V\Get-VMHardDiskDrive -VM $machines -ErrorAction SilentlyContinue -ErrorVariable +failures)
        $drives += @(Hyper-V\Get-VMSnapshot -VM $machines -ErrorAction SilentlyContinue -ErrorVariable +failures | ForEach-Object { Hyper-V\Get-VMHardDiskDrive -VMSnapshot $_ -ErrorAction SilentlyContinue -ErrorVariable +failures })
        foreach ($drive in $drives) { if ($drive.Path) { $owners[[string] $drive.Path] = [string] $drive.VMId } }
    }
    # A machine that cannot be seen, or whose drives cannot, may hang on anything.
    $unseen = @($failures | ForEach-Object { 'a VM: ' + $_.Exception.Message.Split("`n")[0] } | Sort-Object -Unique)
    if (-not $owners.Count) { return @{ dependants = [object[]] @(); unread = [object[]] $unseen } }
    $seen = Get-DiskChains ([string[]] @($owners.Keys))
    foreach ($path in @($owners.Keys | Sort-Object)) {
        $within = @($seen.chains[$path] | Where-Object { Test-Inside $_ $folder })
        if ($within.Count) { $dependants += @{ vm = 'vm-' + $owners[$path].ToLowerInvariant(); name = [string] $names[$owners[$path]]; path = $path } }
    }
    @{ dependants = [object[]] @($dependants | Sort-Object { $_.name }); unread = [object[]] @($seen.unread + $unseen) }
}

# The folder of ours that a machine lies in; nothing when it was moved or copied away from it.
function Get-OwnFolder($machine, $folder) {
    if (-not $folder) { return }
    $path = [IO.Path]::Combine((Get-MachinesFolder), [string] $folder)
    if ([IO.Path]::GetFullPath([string] $machine.Path).TrimEnd('\', '/') -eq [IO.Path]::GetFullPath($path).TrimEnd('\', '/')) { $path }
}

# The disk files of a machine, its checkpoints' included, with sizes where they can be seen, and who else needs its folder.
function Get-MachineDisks([string] $vm, $folder) {
    $machine = Find-Machine $vm
    $own = Get-OwnFolder $machine $folder
    $disks = @(foreach ($path in @(Get-DiskPaths $machine)) {
        $file = New-Object IO.FileInfo $path
        @{ path = $path; size_bytes = $(if ($file.Exists) { [string] $file.Length } else { $null }); own = [bool] ($own -and (Test-Inside $path $own)) }
    })
    $others = $(if ($own) { Get-Dependants $own $vm } else { @{ dependants = [object[]] @(); unread = [object[]] @() } })
    @{ disks = [object[]] $disks; dependants = $others.dependants; unread = $others.unread; machine = ConvertTo-MachineFacts $machine }
}

function Assert-NoDependants($others, [string] $vm) {
    if (-not $others.dependants.Count) { return }
    $names = @($others.dependants | ForEach-Object { '"' + $_.name + '"' }) -join ', '
    Stop-Operation 'hv.conflict' "Disks of the VM are needed by $names" 'Remove those VMs first, or keep the disks with --keep-disks' @{ vm = "vm-$vm"; dependants = $others.dependants; wanted = 'no dependants'; found = $names }
}

# Whether a machine is gone. After a failure that may be for want of rights or of the service, which are asked for then.
function Test-Gone([string] $vm, [bool] $after_failure) {
    $server = Get-Server
    try { [void] (Hyper-V\Get-VM -Id ([Guid] $vm) @server -ErrorAction Stop) }
    catch {
        if (-not (Test-NotFound $_)) { throw }
        if ($after_failure) { Assert-Sight }
        return $true
    }
    $false
}

# Powers off and removes the machine and, when `folder` names the one of ours that it lies in, everything in that, unless the
# disks are to be kept.
function Remove-Machine([string] $vm, $folder, [bool] $keep_disks, [bool] $alone) {
    $machine = Find-Machine $vm
    $name = [string] $machine.Name
    $own = Get-OwnFolder $machine $folder
    $warnings = @()
    $kept = @()
    if ($own -and -not $keep_disks -and -not $alone) {
        $others = Get-Dependants $own $vm
        Assert-NoDependants $others $vm
        if ($others.unread.Count) {
            $keep_disks = $true
            $warnings += "Its disks stay, for it cannot be told what hangs on them: the parent of `"$($others.unread -join '", "')`" cannot be read"
        }
    }
    if ('Off', 'Saved' -notcontains [string] $machine.State) {
        Write-Progress -Activity 'cutting the power' -Status ' '
        [void] (Stop-Machine $vm 'off')
    }
    $machine = Wait-Idle $vm
    if ($own -and $keep_disks) { [IO.File]::WriteAllText([IO.Path]::Combine($own, $script:KeptMark), "The disks of the VM `"$name`", kept when it was deleted.`n") }
    Write-Progress -Activity 'removing the VM' -Status ' '
    $failure = $null
    try { Hyper-V\Remove-VM -VM $machine -Force -ErrorAction Stop }
    catch { $failure = $_ }
    # One that cannot be looked for counts as still there.
    $is_gone = $false
    try { $is_gone = Test-Gone $vm ([bool] $failure) }
    catch { if (-not $failure) { $failure = $_ } }
    if (-not $is_gone) {
        if ($own -and $keep_disks) { [IO.File]::Delete([IO.Path]::Combine($own, $script:KeptMark)) }
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM is still there' "Look at the VM with ``hvlab vm get vm-$vm``" @{ vm = "vm-$vm" }
    }
    $global:HvlabShared.Tied.Remove($vm)
    $files = @()
    if ($own -and $keep_disks) { $kept = @([IO.Directory]::GetFiles($own, '*.*vhd*', 'AllDirectories')) }
    elseif ($own) {
        try { $files = @(Remove-OwnFolder $own) }
        catch { $warnings += "The folder `"$own`" could not be removed: $($_.Exception.Message)" }
    }
    @{ name = $name; files = [object[]] $files; kept = [object[]] $kept; warnings = [object[]] $warnings }
}

# Remembers a machine that ends with the program that started us: the loop removes it when its input ends.
function Register-TiedMachine([string] $vm, [string] $folder) {
    $global:HvlabShared.Tied[$vm] = $folder
    @{ tied = $true }
}

function Remove-TiedMachines {
    $tied = $global:HvlabShared.Tied
    foreach ($vm in @($tied.Keys)) {
        try { [void] (Remove-Machine $vm $tied[$vm] $false $true) }
        catch { Write-Verbose $_.Exception.Message }
    }
}

# Folders of ours below the machines' folder, with their sizes and ages; those that were kept on purpose are nobody's leftover.
function Get-OwnFolders {
    $root = Get-MachinesFolder
    $folders = @()
    if ([IO.Directory]::Exists($root)) {
        $folders = @(foreach ($path in [IO.Directory]::GetDirectories($root, 'hvlab-*')) {
            if ([IO.File]::Exists([IO.Path]::Combine($path, $script:KeptMark))) { continue }
            $size = [long] 0
            try { foreach ($file in [IO.Directory]::GetFiles($path, '*', 'AllDirectories')) { $size += (New-Object IO.FileInfo $file).Length } }
            # Somebody removes it just now.
            catch [IO.DirectoryNotFoundException] { continue }
            @{ name = [IO.Path]::GetFileName($path); path = $path; size_bytes = [string] $size; created = ConvertTo-Moment ([IO.Directory]::GetCreationTimeUtc($path)) }
        })
    }
    @{ folders = [object[]] $folders }
}

# Removes a folder of ours that no machine uses.
function Remove-StrayFolder([string] $folder) {
    $server = Get-Server
    $path = [IO.Path]::Combine((Get-MachinesFolder), $folder)
    $stays = @{ files = [object[]] @(); removed = $false }
    # Looked at again right now, by place and not by mark: a user may have changed the notes.
    foreach ($machine in @(Hyper-V\Get-VM -Name '*' @server -ErrorAction Stop)) {
        if ((Test-Inside ([string] $machine.Path) $path) -or [string] $machine.Name -ceq $folder) { return $stays }
    }
    $others = Get-Dependants $path ''
    if ($others.dependants.Count) {
        $stays.warnings = [object[]] @('It stays, for disks in it are needed by ' + (@($others.dependants | ForEach-Object { '"' + $_.name + '"' }) -join ', '))
        return $stays
    }
    if ($others.unread.Count) {
        $stays.warnings = [object[]] @("It stays, for it cannot be told what hangs on its disks: the parent of `"$($others.unread -join '", "')`" cannot be read")
        return $stays
    }
    $files = @(Remove-OwnFolder $path)
    @{ files = [object[]] $files; removed = -not [IO.Directory]::Exists($path) }
}
