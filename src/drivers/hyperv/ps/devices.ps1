# Devices of machines: DVD drives, serial ports, parts of the host's graphics cards.

function ConvertTo-DriveFacts($drive) {
    @{
        id = Get-PartId $drive
        name = [string] $drive.Name
        path = [string] $drive.Path
        controller = [string] $drive.ControllerType
        number = [int] $drive.ControllerNumber
        location = [int] $drive.ControllerLocation
    }
}

function ConvertTo-PortFacts($port) { @{ name = [string] $port.Name; path = [string] $port.Path; debugger = [string] $port.DebuggerMode -eq 'On' } }

# Whether this host's module can divide graphics cards; it came with Windows Server 2022.
function Test-Gpu { Test-Cmdlet 'Add-VMGpuPartitionAdapter' }

function ConvertTo-GpuFacts($adapter) {
    @{
        id = Get-PartId $adapter
        memory_min = [string] $adapter.MinPartitionVRAM
        memory_max = [string] $adapter.MaxPartitionVRAM
        memory_optimal = [string] $adapter.OptimalPartitionVRAM
    }
}

function Get-HostGpus {
    $server = Get-Server
    if (Test-Cmdlet 'Get-VMHostPartitionableGpu') { return Hyper-V\Get-VMHostPartitionableGpu @server -ErrorAction Stop }
    Hyper-V\Get-VMPartitionableGpu @server -ErrorAction Stop
}

# Everything that is plugged into a machine beside its network cards.
function Get-Devices([string] $vm) {
    $machine = Find-Machine $vm
    $gpus = @()
    if (Test-Gpu) { $gpus = @(Hyper-V\Get-VMGpuPartitionAdapter -VM $machine -ErrorAction Stop | ForEach-Object { ConvertTo-GpuFacts $_ }) }
    $drives = @(Hyper-V\Get-VMDvdDrive -VM $machine -ErrorAction Stop | ForEach-Object { ConvertTo-DriveFacts $_ })
    $disks = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | ForEach-Object { ConvertTo-DriveFacts $_ })
    $ports = @(Hyper-V\Get-VMComPort -VM $machine -ErrorAction Stop | ForEach-Object { ConvertTo-PortFacts $_ })
    $tpm = $null
    if ([int] $machine.Generation -eq 2) { $tpm = [bool] (Hyper-V\Get-VMSecurity -VM $machine -ErrorAction Stop).TpmEnabled }
    @{ dvds = [object[]] $drives; disks = [object[]] $disks; ports = [object[]] $ports; gpus = [object[]] $gpus; tpm = $tpm; machine = ConvertTo-MachineFacts $machine }
}

# Puts a disc into the machine's first drive, or takes it out; a machine without a drive gets one.
function Set-Dvd([string] $vm, $path) {
    $machine = Find-Machine $vm
    $drives = @(Hyper-V\Get-VMDvdDrive -VM $machine -ErrorAction Stop)
    if ($drives.Count) {
        if ($path) { Hyper-V\Set-VMDvdDrive -VMDvdDrive $drives[0] -Path ([string] $path) -ErrorAction Stop }
        else { Hyper-V\Set-VMDvdDrive -VMDvdDrive $drives[0] -Path $null -ErrorAction Stop }
    }
    elseif ($path) { Hyper-V\Add-VMDvdDrive -VM $machine -Path ([string] $path) -ErrorAction Stop }
    Get-Devices $vm
}

# `path` is a named pipe, empty for none, $null to leave it.
function Set-SerialPort([string] $vm, [int] $number, $path, $debugger) {
    $machine = Find-Machine $vm
    $change = @{}
    if ($null -ne $path) { $change.Path = [string] $path }
    if ($null -ne $debugger) { $change.DebuggerMode = $(if ($debugger) { 'On' } else { 'Off' }) }
    Hyper-V\Set-VMComPort -VM $machine -Number $number @change -ErrorAction Stop
    Get-Devices $vm
}

# Gives a machine a part of a graphics card, changes it, or takes it away. The guest maps the card's memory, for which the
# machine's own address space must leave room.
function Set-Gpu([string] $vm, [bool] $wanted, $memory_min, $memory_max) {
    if (-not (Test-Gpu)) { Stop-Operation 'hv.unsupported' 'The Hyper-V of this host divides no graphics cards' 'It needs Windows 11 or Windows Server 2022' @{ cmdlet = 'Add-VMGpuPartitionAdapter' } }
    $machine = Find-Machine $vm
    if ([string] $machine.State -ne 'Off') { Stop-WrongState $vm ([string] $machine.State).ToLowerInvariant() 'off' "Stop it with ``hvlab vm stop vm-$vm``, then change it" }
    $present = @(Hyper-V\Get-VMGpuPartitionAdapter -VM $machine -ErrorAction Stop)
    if (-not $wanted) {
        if ($present.Count) { Hyper-V\Remove-VMGpuPartitionAdapter -VM $machine -ErrorAction Stop }
        return Get-Devices $vm
    }
    if (-not @(Get-HostGpus).Count) { Stop-Operation 'hv.unsupported' 'This host has no graphics card that can be divided' 'See what it has: Get-VMHostPartitionableGpu' @{ found = 0 } }
    $share = @{}
    if ($null -ne $memory_min) { $share.MinPartitionVRAM = [uint64] $memory_min; $share.OptimalPartitionVRAM = [uint64] $memory_min }
    if ($null -ne $memory_max) { $share.MaxPartitionVRAM = [uint64] $memory_max; $share.OptimalPartitionVRAM = [uint64] $memory_max }
    if (-not $present.Count) {
        Hyper-V\Set-VM -VM $machine -GuestControlledCacheTypes $true -LowMemoryMappedIoSpace 1GB -HighMemoryMappedIoSpace 32GB -ErrorAction Stop
        Hyper-V\Add-VMGpuPartitionAdapter -VM $machine @share -ErrorAction Stop
    }
    elseif ($share.Count) { Hyper-V\Set-VMGpuPartitionAdapter -VM $machine @share -ErrorAction Stop }
    Get-Devices $vm
}
