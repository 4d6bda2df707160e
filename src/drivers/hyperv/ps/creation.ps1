# Machines: making, removing, and what was left half-made. A machine is made under a passing name that is fit for a folder, and
# gets its own name last: whatever breaks off before that can be told from everything else.

$script:DefaultSwitchId = 'c08cb7b8-9b3c-408e-8e30-5e16a3aeb444'

# The switch of this exact name. The built-in one is found by its id, since its name is localised.
function Find-Switch([string] $name) {
    $server = Get-Server
    $all = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop)
    $found = @($all | Where-Object { [string] $_.Name -ceq $name })
    if (-not $found.Count -and $name -eq 'default') { $found = @($all | Where-Object { [string] $_.Id -eq $script:DefaultSwitchId }) }
    if ($found.Count -eq 1) { return $found[0] }
    $names = @($all | ForEach-Object { [string] $_.Name })
    if ($found.Count) {
        $ids = @($found | ForEach-Object { [string] $_.Id })
        Stop-Operation 'hv.ambiguous' "$($found.Count) switches have the name `"$name`"" 'Rename one of them in the Hyper-V manager' @{ switch = $name; ids = $ids }
    }
    Stop-Operation 'hv.not_found' "There is no switch `"$name`"" ('Switches are: ' + ($names -join ', ')) @{ switch = $name; known = $names }
}

# The built-in switch, where this edition of Windows has it.
function Find-DefaultSwitch {
    $server = Get-Server
    Hyper-V\Get-VMSwitch @server -ErrorAction Stop | Where-Object { [string] $_.Id -eq $script:DefaultSwitchId } | Select-Object -First 1
}

# The folder that holds one folder for each machine of ours.
function Get-MachinesFolder {
    $server = Get-Server
    [string] (Hyper-V\Get-VMHost @server -ErrorAction Stop).VirtualMachinePath
}

function New-Disk([string] $folder, $disk_bytes, $disk, $parent_disk) {
    if ($disk) { return [string] $disk }
    if (-not $disk_bytes -and -not $parent_disk) { return }
    $server = Get-Server
    $place = [IO.Path]::Combine($folder, 'Virtual Hard Disks')
    [void] [IO.Directory]::CreateDirectory($place)
    if ($parent_disk) {
        $path = [IO.Path]::Combine($place, 'disk' + [IO.Path]::GetExtension([string] $parent_disk))
        [void] (Hyper-V\New-VHD -Path $path -ParentPath ([string] $parent_disk) -Differencing @server -ErrorAction Stop)
        return $path
    }
    $path = [IO.Path]::Combine($place, 'disk.vhdx')
    [void] (Hyper-V\New-VHD -Path $path -SizeBytes ([uint64] $disk_bytes) -Dynamic @server -ErrorAction Stop)
    $path
}

function Add-Disc($machine, [string] $iso) {
    if ([int] $machine.Generation -eq 2) { return Hyper-V\Add-VMDvdDrive -VM $machine -Path $iso -ErrorAction Stop }
    $drive = @(Hyper-V\Get-VMDvdDrive -VM $machine -ErrorAction Stop)[0]
    Hyper-V\Set-VMDvdDrive -VMDvdDrive $drive -Path $iso -ErrorAction Stop
}

# Makes a machine that is off. `passing` is its name meanwhile and its folder's name for good. What a failure leaves behind is
# taken away by Remove-Unfinished, never here.
function New-Machine(
    [string] $passing, [string] $name, [int] $generation, [string] $memory_bytes, [int] $cpus, [string] $notes, [string] $final_notes,
    $disk_bytes, $disk, $parent_disk, $iso, $switch, [bool] $network, $secure_boot, [bool] $tpm
) {
    $server = Get-Server
    $root = Get-MachinesFolder
    $adapterSwitch = $(if ($switch) { Find-Switch ([string] $switch) } elseif ($network) { Find-DefaultSwitch })
    $folder = [IO.Path]::Combine($root, $passing)
    Write-Progress -Activity 'making the disk' -Status ' '
    $path = New-Disk $folder $disk_bytes $disk $parent_disk
    Write-Progress -Activity 'making the VM' -Status ' '
    $made = @{ Name = $passing; Path = $root; Generation = $generation; MemoryStartupBytes = [long] $memory_bytes }
    if ($path) { $made.VHDPath = $path } else { $made.NoVHD = $true }
    $machine = Hyper-V\New-VM @made @server -ErrorAction Stop
    Hyper-V\Set-VM -VM $machine -Notes $notes -ErrorAction Stop
    Write-Progress -Activity 'setting the VM up' -Status ' '
    $settings = @{}
    if (Test-Parameter 'Set-VM' 'AutomaticCheckpointsEnabled') { $settings.AutomaticCheckpointsEnabled = $false }
    if ($settings.Count) { Hyper-V\Set-VM -VM $machine @settings -ErrorAction Stop }
    Hyper-V\Set-VMMemory -VM $machine -DynamicMemoryEnabled $false -StartupBytes ([long] $memory_bytes) -ErrorAction Stop
    Hyper-V\Set-VMProcessor -VM $machine -Count $cpus -ErrorAction Stop
    if ($null -ne $secure_boot) { Hyper-V\Set-VMFirmware -VM $machine -EnableSecureBoot $(if ($secure_boot) { 'On' } else { 'Off' }) -ErrorAction Stop }
    if ($tpm) { Set-Tpm $machine $true }
    if ($iso) { Add-Disc $machine ([string] $iso) }
    if ($adapterSwitch) {
        $adapter = @(Hyper-V\Get-VMNetworkAdapter -VM $machine -ErrorAction Stop)[0]
        Hyper-V\Connect-VMNetworkAdapter -VMNetworkAdapter $adapter -VMSwitch $adapterSwitch -ErrorAction Stop
    }
    $id = ([string] $machine.Id).ToLowerInvariant()
    Hyper-V\Rename-VM -VM $machine -NewName $name -ErrorAction Stop
    Hyper-V\Set-VM -VM $machine -Notes $final_notes -ErrorAction Stop
    @{ machine = ConvertTo-MachineFacts (Find-Machine $id) }
}

# Removes a folder of ours: it must lie right below the machines' folder and bear one of our names.
function Remove-OwnFolder([string] $folder) {
    $root = [IO.Path]::GetFullPath((Get-MachinesFolder)).TrimEnd('\', '/')
    $full = [IO.Path]::GetFullPath($folder).TrimEnd('\', '/')
    if ([IO.Path]::GetDirectoryName($full) -ne $root -or [IO.Path]::GetFileName($full) -notmatch '^hvlab-[0-9a-f-]{36}$') { return }
    if (-not [IO.Directory]::Exists($full)) { return }
    $files = @([IO.Directory]::GetFiles($full, '*', 'AllDirectories'))
    [IO.Directory]::Delete($full, $true)
    $files
}

# The machines that one making left behind: by its passing name, or by the key in their notes.
function Find-Unfinished([string] $passing) {
    $server = Get-Server
    Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue |
        Where-Object { [string] $_.Name -ceq $passing -or ([string] $_.Notes).Contains("key=$passing;") }
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

# The disk files of a machine, its checkpoints' included, with sizes where they can be seen.
function Get-MachineDisks([string] $vm) {
    $machine = Find-Machine $vm
    $paths = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | ForEach-Object { [string] $_.Path })
    foreach ($checkpoint in @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop)) {
        $paths += @(Hyper-V\Get-VMHardDiskDrive -VMSnapshot $checkpoint -ErrorAction Stop | ForEach-Object { [string] $_.Path })
    }
    $disks = @(foreach ($path in @($paths | Where-Object { $_ } | Sort-Object -Unique)) {
        $file = New-Object IO.FileInfo $path
        @{ path = $path; size_bytes = $(if ($file.Exists) { [string] $file.Length } else { $null }) }
    })
    @{ disks = [object[]] $disks; root = Get-MachinesFolder; machine = ConvertTo-MachineFacts $machine }
}

# Powers off, removes the machine and, when `folder` names one of ours, everything in it.
function Remove-Machine([string] $vm, $folder) {
    $machine = Find-Machine $vm
    $name = [string] $machine.Name
    if ('Off', 'Saved' -notcontains [string] $machine.State) {
        Write-Progress -Activity 'cutting the power' -Status ' '
        [void] (Stop-Machine $vm 'off')
    }
    $machine = Wait-Idle $vm
    Write-Progress -Activity 'removing the VM' -Status ' '
    $failure = $null
    try { Hyper-V\Remove-VM -VM $machine -Force -ErrorAction Stop }
    catch { $failure = $_ }
    $server = Get-Server
    $still = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue | Where-Object { ([string] $_.Id) -eq $vm })
    if ($still.Count) {
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM is still there' 'Look at the VM with `hvlab vm get`' @{ vm = "vm-$vm" }
    }
    $warnings = @()
    $files = @()
    if ($folder) {
        try { $files = @(Remove-OwnFolder ([IO.Path]::Combine((Get-MachinesFolder), [string] $folder))) }
        catch { $warnings += "The folder `"$folder`" could not be removed: $($_.Exception.Message)" }
    }
    @{ name = $name; files = [object[]] $files; warnings = [object[]] $warnings }
}

# Folders of ours below the machines' folder, with their sizes and ages.
function Get-OwnFolders {
    $root = Get-MachinesFolder
    $folders = @()
    if ([IO.Directory]::Exists($root)) {
        $folders = @(foreach ($path in [IO.Directory]::GetDirectories($root, 'hvlab-*')) {
            $size = [long] 0
            foreach ($file in [IO.Directory]::GetFiles($path, '*', 'AllDirectories')) { $size += (New-Object IO.FileInfo $file).Length }
            @{ name = [IO.Path]::GetFileName($path); path = $path; size_bytes = [string] $size; created = ConvertTo-Moment ([IO.Directory]::GetCreationTimeUtc($path)) }
        })
    }
    @{ folders = [object[]] $folders }
}

# Removes a folder of ours that no machine uses.
function Remove-StrayFolder([string] $folder) {
    $server = Get-Server
    $path = [IO.Path]::Combine((Get-MachinesFolder), $folder)
    # Looked at again right now, by place and not by mark: a user may have changed the notes.
    foreach ($machine in @(Hyper-V\Get-VM -Name '*' @server -ErrorAction Stop)) {
        $places = @([string] $machine.Path) + @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | ForEach-Object { [string] $_.Path })
        $inside = @($places | Where-Object { $_ -eq $path -or $_.StartsWith($path + [IO.Path]::DirectorySeparatorChar, [StringComparison]::OrdinalIgnoreCase) })
        if ($inside.Count -or [string] $machine.Name -ceq $folder) { return @{ files = [object[]] @(); removed = $false } }
    }
    $files = @(Remove-OwnFolder $path)
    @{ files = [object[]] $files; removed = -not [IO.Directory]::Exists($path) }
}
