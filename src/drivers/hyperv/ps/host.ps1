# The host: whether this PowerShell can do the work, and what the host is.

# The real probe: the cmdlets are there and answer. A host that fails for want of a server's name gets one named from now on.
function Test-Sidecar {
    $shared = $global:HvlabShared
    [void] (Get-Command -Name 'Hyper-V\Get-VM' -ErrorAction Stop)
    $cure = 'none'
    try { [void] @(Hyper-V\Get-VM -Name '*' -ErrorAction Stop) }
    catch {
        # Only the server's name is in question here; whatever else fails is the affair of the operations.
        try { [void] @(Hyper-V\Get-VM -Name '*' -ComputerName localhost -ErrorAction Stop); $cure = 'computer_name' }
        catch { Write-Verbose $_.Exception.Message }
    }
    if ($cure -eq 'computer_name') { $shared.Server = @{ ComputerName = 'localhost' } }
    elseif ($shared.Restored.Count) { $cure = 'environment' }
    $module = Get-Module -Name Hyper-V
    @{
        edition = [string] $PSVersionTable['PSEdition']
        version = $PSVersionTable.PSVersion.ToString()
        module_version = [string] $module.Version
        simulated = [bool] ($module.PrivateData -is [hashtable] -and $module.PrivateData['HvlabSimulation'])
        load_ms = [int] $shared.Imported
        cure = $cure
        restored = [object[]] @($shared.Restored)
        language_mode = [string] $ExecutionContext.SessionState.LanguageMode
    }
}

# One fact of the host by itself, so that one that cannot be had does not hide the others.
function Get-HostFact([scriptblock] $ask) {
    try { @{ value = & $ask } }
    catch { @{ failure = ([string] $_.Exception.Message).Split("`n")[0] } }
}

function Get-HostFacts {
    $server = Get-Server
    @{
        system = Get-HostFact {
            $system = Get-CimInstance -Namespace root/cimv2 -ClassName Win32_ComputerSystem -ErrorAction Stop
            @{ hypervisor_present = [bool] $system.HypervisorPresent; processors = [int] $system.NumberOfLogicalProcessors; memory_bytes = [string] $system.TotalPhysicalMemory; name = [string] $system.Name }
        }
        windows = Get-HostFact {
            $windows = Get-CimInstance -Namespace root/cimv2 -ClassName Win32_OperatingSystem -ErrorAction Stop
            @{ caption = [string] $windows.Caption; build = [string] $windows.BuildNumber; sku = [int] $windows.OperatingSystemSKU; free_memory_kb = [string] $windows.FreePhysicalMemory }
        }
        service = Get-HostFact { Get-ServiceState }
        rights = Get-HostFact { Get-Rights }
        host = Get-HostFact {
            $one = Hyper-V\Get-VMHost @server -ErrorAction Stop
            @{ machines_folder = [string] $one.VirtualMachinePath; disks_folder = [string] $one.VirtualHardDiskPath; logical_processors = [int] $one.LogicalProcessorCount; memory_bytes = [string] $one.MemoryCapacity }
        }
        default_switch = Get-HostFact {
            $found = Find-DefaultSwitch
            if ($found) { [string] $found.Name }
        }
        versions = Get-HostFact { [object[]] @(Hyper-V\Get-VMHostSupportedVersion @server -ErrorAction Stop | ForEach-Object { [string] $_.Version }) }
    }
}
