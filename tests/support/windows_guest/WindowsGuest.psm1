# What Windows PowerShell has and PowerShell on Linux has not, as the collectors of src/guest/windows meet it: properties, types and
# errors as Microsoft's reference pages describe them. A guest of the tests loads it by name, as it would load the real modules.

function New-Thing([hashtable] $properties) { [pscustomobject] $properties }

function Get-CimInstance {
    [CmdletBinding()] param([string] $ClassName, [string] $Filter)
    switch ($ClassName) {
        'Win32_OperatingSystem' {
            New-Thing @{
                Caption = 'Microsoft Windows Server 2022 Standard'; Version = '10.0.20348'; OSArchitecture = '64-bit'; CSName = 'WIN-É'
                LastBootUpTime = [datetime]::Parse('2026-11-29T10:00:00.5000000Z').ToLocalTime()
                TotalVisibleMemorySize = [uint64] 4193332; FreePhysicalMemory = [uint64] 2000000
            }
        }
        'Win32_ComputerSystem' { New-Thing @{ NumberOfLogicalProcessors = [uint32] 4 } }
        'Win32_NetworkAdapterConfiguration' {
            New-Thing @{ Description = 'Microsoft Hyper-V Network Adapter'; MACAddress = '00:15:5D:01:02:03'; IPAddress = @('172.20.1.9', 'fe80::1'); IPSubnet = @('255.255.240.0', '64') }
            New-Thing @{ Description = 'WAN Miniport (IP)'; MACAddress = $null; IPAddress = $null; IPSubnet = $null }
            New-Thing @{ Description = 'Unplugged'; MACAddress = '00:15:5D:01:02:04'; IPAddress = $null; IPSubnet = $null }
        }
        'Win32_DiskDrive' { throw 'Access denied' }
        'Win32_LogicalDisk' {
            if ($Filter -ne 'DriveType = 3') { throw "Unknown filter $Filter" }
            New-Thing @{ DeviceID = 'C:'; FileSystem = 'NTFS'; Size = [uint64] 136365211648; FreeSpace = [uint64] 99999997952 }
        }
        'Win32_Process' {
            New-Thing @{ ProcessId = [uint32] 4; ParentProcessId = [uint32] 0; Name = 'System'; CommandLine = $null; CreationDate = [datetime]::Parse('2026-11-29T10:00:01Z').ToLocalTime(); KernelModeTime = [uint64] 1234560000; UserModeTime = [uint64] 0; WorkingSetSize = [uint64] 151552; ThreadCount = [uint32] 150 }
            New-Thing @{ ProcessId = [uint32] 0; ParentProcessId = [uint32] 0; Name = 'System Idle Process'; CommandLine = $null; CreationDate = $null; KernelModeTime = [uint64] 0; UserModeTime = [uint64] 0; WorkingSetSize = [uint64] 8192; ThreadCount = [uint32] 4 }
            New-Thing @{ ProcessId = [uint32] 700; ParentProcessId = [uint32] 4; Name = 'sshd.exe'; CommandLine = '"C:\Program Files\OpenSSH\sshd.exe" -D'; CreationDate = [datetime]::Parse('2026-11-29T10:00:09Z').ToLocalTime(); KernelModeTime = [uint64] 10000; UserModeTime = [uint64] 20000; WorkingSetSize = [uint64] 9000000000; ThreadCount = [uint32] 3 }
        }
        'Win32_Service' {
            New-Thing @{ Name = 'sshd'; DisplayName = 'OpenSSH SSH Server'; State = 'Running'; StartMode = 'Auto'; ProcessId = [uint32] 700; ExitCode = [uint32] 0; ServiceSpecificExitCode = [uint32] 0 }
            New-Thing @{ Name = 'AppMgmt'; DisplayName = 'Application Management'; State = 'Stopped'; StartMode = 'Manual'; ProcessId = [uint32] 0; ExitCode = [uint32] 1077; ServiceSpecificExitCode = [uint32] 0 }
            New-Thing @{ Name = 'broken'; DisplayName = 'A driver''s helper'; State = 'Stopped'; StartMode = 'Auto'; ProcessId = [uint32] 0; ExitCode = [uint32] 1066; ServiceSpecificExitCode = [uint32] 3221225477 }
        }
        default { throw "Invalid class $ClassName" }
    }
}

# The log of the guest, oldest first. Level 0 is what is logged always.
function Get-GuestLog {
    foreach ($number in 1..30) {
        $isOwn = $number % 10 -eq 0
        New-Thing @{
            TimeCreated = [datetime]::UtcNow.AddMinutes($number - 31).ToLocalTime(); Level = [byte] $(if ($isOwn) { 2 } else { $number % 5 })
            ProviderName = $(if ($isOwn) { 'volmgr' } else { 'Service Control Manager' }); LogName = $(if ($number % 2) { 'Application' } else { 'System' })
            Message = $(if ($number -eq 7) { $null } elseif ($number -eq 30) { 'x' * 5000 } else { "Event number $number [of] ""many""" })
            ProcessId = $(if ($number -eq 8) { $null } else { [int] 600 }); Id = [int] (7000 + $number)
        }
    }
}

function Get-WinEvent {
    [CmdletBinding()] param([hashtable] $FilterHashtable, [long] $MaxEvents)
    $found = @(Get-GuestLog | Sort-Object -Descending TimeCreated | Where-Object {
        $FilterHashtable.Level -contains $_.Level -and
        (-not $FilterHashtable.StartTime -or $_.TimeCreated -ge $FilterHashtable.StartTime) -and
        (-not $FilterHashtable.ProviderName -or $FilterHashtable.ProviderName -contains $_.ProviderName) -and
        (-not $FilterHashtable.LogName -or $FilterHashtable.LogName -contains $_.LogName)
    } | Select-Object -First $MaxEvents)
    if ($found.Count -eq 0) {
        $record = New-Object Management.Automation.ErrorRecord (New-Object Exception 'No events were found'), 'NoMatchingEventsFound', 'ObjectNotFound', $null
        $PSCmdlet.ThrowTerminatingError($record)
    }
    $found
}

# Registry keys as the provider gives them: an object with the methods of .NET's RegistryKey.
function Get-GuestKey([string] $path) {
    if ($path -eq 'Registry::HKEY_LOCAL_MACHINE\SAM\SAM') { throw (New-Object Security.SecurityException 'Requested registry access is not allowed.') }
    if ($path -ne 'Registry::HKEY_LOCAL_MACHINE\SOFTWARE\Test [1]') { throw (New-Object Management.Automation.ItemNotFoundException 'Cannot find path') }
    $values = [ordered] @{
        '' = @('String', 'the default'); 'Path' = @('ExpandString', '%SystemRoot%\é'); 'Flags' = @('DWord', [int] -2); 'Big' = @('QWord', [long] -1)
        'Small' = @('QWord', [long] 5); 'List' = @('MultiString', [string[]] @('one', '')); 'Raw' = @('Binary', [byte[]] @(0, 255)); 'Nothing' = @('None', [byte[]] @())
        'Long' = @('String', ('y' * 20000))
    }
    $key = [pscustomobject] @{ Name = 'HKEY_LOCAL_MACHINE\SOFTWARE\Test [1]'; Values = $values }
    $key | Add-Member ScriptMethod GetValueNames { [string[]] @($this.Values.Keys) }
    $key | Add-Member ScriptMethod GetSubKeyNames { [string[]] @('b', 'A', 'c') }
    $key | Add-Member ScriptMethod GetValueKind { param($name) $this.Values[[string] $name][0] }
    $key | Add-Member ScriptMethod GetValue { param($name, $other, $how) if ($how -ne 'DoNotExpandEnvironmentNames') { throw 'It would expand' }; , $this.Values[[string] $name][1] }
    $key
}

function Get-Item {
    [CmdletBinding()] param([string] $LiteralPath)
    Get-GuestKey $LiteralPath
}

Export-ModuleMember -Function Get-CimInstance, Get-WinEvent, Get-Item
