# Making machines. A machine is made under a passing name that is fit for a folder, and
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
    if ($disk) {
        [void] (Find-Disk ([string] $disk))
        Assert-DiskFree ([string] $disk) 'use' ''
        return [string] $disk
    }
    if (-not $disk_bytes -and -not $parent_disk) { return }
    $server = Get-Server
    $place = [IO.Path]::Combine($folder, 'Virtual Hard Disks')
    [void] [IO.Directory]::CreateDirectory($place)
    # An export puts a disk and all that it hangs on into one folder, so that no two may have one name.
    $file = 'disk-' + [IO.Path]::GetFileName($folder).Substring(6, 8)
    if ($parent_disk) {
        [void] (Find-Disk ([string] $parent_disk))
        $path = [IO.Path]::Combine($place, $file + [IO.Path]::GetExtension([string] $parent_disk))
        [void] (Hyper-V\New-VHD -Path $path -ParentPath ([string] $parent_disk) -Differencing @server -ErrorAction Stop)
        return $path
    }
    $path = [IO.Path]::Combine($place, "$file.vhdx")
    [void] (Hyper-V\New-VHD -Path $path -SizeBytes ([uint64] $disk_bytes) -Dynamic @server -ErrorAction Stop)
    $path
}

# What an image's disk is; reading it fails for a file that is none.
function Get-ImageDisk([string] $path) {
    $server = Get-Server
    $disk = Hyper-V\Get-VHD -Path $path @server -ErrorAction Stop
    $parent = [string] $disk.ParentPath
    @{ disk = @{ format = [string] $disk.VhdFormat; type = [string] $disk.VhdType; parent = $(if ($parent) { $parent } else { $null }) } }
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
