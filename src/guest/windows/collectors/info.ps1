$now = ([DateTimeOffset] [datetime]::UtcNow).ToUnixTimeMilliseconds()
$system = Get-CimInstance -ClassName Win32_OperatingSystem
$computer = Read-Fact 'cpus' { Get-CimInstance -ClassName Win32_ComputerSystem }
$nics = @(Read-Fact 'nics' {
    Get-CimInstance -ClassName Win32_NetworkAdapterConfiguration | Where-Object { $_.MACAddress } | ForEach-Object {
        $prefixes = @($_.IPSubnet)
        $at = 0
        $addresses = @(foreach ($address in @($_.IPAddress | Where-Object { $_ })) {
            @{ address = [string] $address; prefix = [string] $prefixes[$at++] }
        })
        @{ name = [string] $_.Description; mac = [string] $_.MACAddress; addresses = $addresses }
    }
})
$disks = @(Read-Fact 'disks' {
    Get-CimInstance -ClassName Win32_DiskDrive | ForEach-Object {
        @{ name = [string] $_.DeviceID; model = [string] $_.Model; size = [string] $_.Size }
    }
})
$volumes = @(Read-Fact 'volumes' {
    Get-CimInstance -ClassName Win32_LogicalDisk -Filter 'DriveType = 3' | ForEach-Object {
        @{ path = [string] $_.DeviceID; file_system = [string] $_.FileSystem; size = [string] $_.Size; free = [string] $_.FreeSpace }
    }
})
Write-Answer @{
    now = $now
    os = [string] $system.Caption
    version = [string] $system.Version
    architecture = [string] $system.OSArchitecture
    host_name = [string] $system.CSName
    boot_time = Format-Time $system.LastBootUpTime
    cpus = [int] $computer.NumberOfLogicalProcessors
    memory_kb = [string] $system.TotalVisibleMemorySize
    free_kb = [string] $system.FreePhysicalMemory
    nics = $nics
    disks = $disks
    volumes = $volumes
    missing = @($missing)
}
