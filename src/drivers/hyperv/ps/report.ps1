# Raw facts for a bug report: what only a real host can tell. Nothing changes, and no name, path, address or message goes in.

# Error records as far as they tell errors apart; their texts may hold names.
function Get-ErrorFacts([scriptblock] $ask) {
    try {
        [void] @(& $ask)
        @{ failed = $false }
    }
    catch {
        $facts = Get-FailureFacts $_
        @{ failed = $true; id = $facts.id; category = $facts.category; reason = [string] $_.CategoryInfo.Reason; types = [object[]] $facts.types; results = [object[]] $facts.results }
    }
}

# One fact by itself. Whether it could be had is a fact as well; what the failure said may hold names.
function Get-ReportFact([scriptblock] $ask) {
    try { @{ value = & $ask } }
    catch { @{ failed = $true } }
}

# Which class stands behind a cmdlet, and whether it asks before it acts.
function Get-CmdletFacts([string] $name) {
    $command = Get-Command -Name $name -Module Hyper-V -ErrorAction SilentlyContinue
    if (-not $command) { return @{ present = $false } }
    $attribute = $(if ($command.ImplementingType) { @($command.ImplementingType.GetCustomAttributes($true) | Where-Object { $_.GetType().Name -eq 'CmdletAttribute' })[0] })
    @{
        present = $true
        class = $(if ($command.ImplementingType) { $command.ImplementingType.FullName } else { $null })
        confirm_impact = [string] $attribute.ConfirmImpact
        force = $command.Parameters.ContainsKey('Force')
        as_job = $command.Parameters.ContainsKey('AsJob')
        output = [object[]] @($command.OutputType | ForEach-Object { [string] $_.Name })
    }
}

# The members of a class or the integers of an enumeration of the module.
function Get-TypeFacts([string] $name) {
    $assembly = (Get-Command -Name 'Get-VM' -Module Hyper-V).ImplementingType.Assembly
    $places = @($assembly) + @([AppDomain]::CurrentDomain.GetAssemblies() | Where-Object { $_.GetName().Name -like '*HyperV*' })
    foreach ($place in $places) {
        $type = $place.GetType("Microsoft.HyperV.PowerShell.$name")
        if (-not $type) { continue }
        $values = @{}
        if ($type.IsEnum) {
            foreach ($word in [Enum]::GetNames($type)) { $values[$word] = [string] [Convert]::ToInt64([Enum]::Parse($type, $word)) }
            return @{ enumeration = $values }
        }
        foreach ($property in $type.GetProperties()) { $values[$property.Name] = [string] $property.PropertyType }
        return @{ members = $values }
    }
    @{ missing = $true }
}

# How long one look at all machines takes, and which states and kinds there are.
function Get-SightFacts {
    $server = Get-Server
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $machines = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue)
    $machines_ms = [int] $watch.ElapsedMilliseconds
    $watch = [Diagnostics.Stopwatch]::StartNew()
    [void] @($machines | ForEach-Object { ConvertTo-MachineFacts $_ })
    $facts = @{ machines = $machines.Count; look_ms = $machines_ms; read_ms = [int] $watch.ElapsedMilliseconds; states = [object[]] @($machines | ForEach-Object { [string] $_.State } | Sort-Object -Unique); checkpoints = [object[]] @() }
    if ($machines.Count) {
        $facts.checkpoints = [object[]] @(Hyper-V\Get-VMSnapshot -VM $machines -ErrorAction SilentlyContinue | ForEach-Object { "$($_.SnapshotType) $($_.State)" } | Sort-Object -Unique)
    }
    $facts
}

# What the first machine of generation 2 shows of its firmware and its key protector, without any name of it.
function Get-FirmwareFacts {
    $server = Get-Server
    $machine = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue | Where-Object { [int] $_.Generation -eq 2 })[0]
    if (-not $machine) { return @{ machine = $false } }
    $order = @((Hyper-V\Get-VMFirmware -VM $machine -ErrorAction Stop).BootOrder | ForEach-Object {
        @{ type = [string] $_.BootType; number = [int] $_.BootType; device = $(if ($_.Device) { $_.Device.GetType().FullName } else { $null }); members = [object[]] @($_.PSObject.Properties | ForEach-Object { $_.Name }) }
    })
    $protector = Hyper-V\Get-VMKeyProtector -VM $machine -ErrorAction Stop
    @{ machine = $true; boot_order = [object[]] $order; key_protector = $(if ($null -ne $protector) { @($protector)[0].GetType().FullName } else { $null }); key_protector_length = @($protector | ForEach-Object { $_ }).Count }
}

# What a machine that runs shows of its disk, its screen and its shutdown service.
function Get-RunningFacts {
    $server = Get-Server
    $machine = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue | Where-Object { [string] $_.State -eq 'Running' })[0]
    if (-not $machine) { return @{ machine = $false } }
    $drive = @(Hyper-V\Get-VMHardDiskDrive -VM $machine -ErrorAction Stop | Where-Object { $_.Path })[0]
    $filter = "Name='" + ([string] $machine.Id).ToUpperInvariant() + "'"
    @{
        machine = $true
        heartbeat = [string] $machine.Heartbeat
        disk_attached = Get-ReportFact { if ($drive) { [bool] (Hyper-V\Get-VHD -Path ([string] $drive.Path) @server -ErrorAction Stop).Attached } }
        shutdown_components = Get-ReportFact { @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ShutdownComponent -Filter ('System' + $filter) -ErrorAction Stop).Count }
        thumbnail = Get-ReportFact {
            $system = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ComputerSystem -Filter $filter -ErrorAction Stop)[0]
            $settings = @(Get-CimAssociatedInstance -InputObject $system -ResultClassName Msvm_VirtualSystemSettingData -ErrorAction Stop | Where-Object { [string] $_.VirtualSystemType -like '*Realized' })[0]
            $service = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_VirtualSystemManagementService -ErrorAction Stop)[0]
            $answer = Invoke-CimMethod -InputObject $service -MethodName GetVirtualSystemThumbnailImage -Arguments @{ TargetSystem = $settings; WidthPixels = [uint16] 160; HeightPixels = [uint16] 120 } -ErrorAction Stop
            @{ returned = [string] $answer.ReturnValue; wanted_bytes = 38400; found_bytes = @($answer.ImageData).Count }
        }
    }
}

function Get-HostReport {
    $server = Get-Server
    $missing = '11111111-2222-3333-4444-555555555555'
    $facts = Get-HostFacts
    $facts.host.Remove('value')
    $facts.default_switch = @{ present = [bool] $facts.default_switch.value }
    if ($facts.system.value) { $facts.system.value.Remove('name') }
    # Whether a read failed is a fact; what it said may hold names.
    foreach ($name in @($facts.Keys)) { if ($facts[$name].failure) { $facts[$name] = @{ failed = $true } } }
    $cmdlets = @{}
    foreach ($name in 'Checkpoint-VM', 'Remove-VM', 'Remove-VMSwitch', 'Remove-VMSnapshot', 'Restore-VMSnapshot', 'Merge-VHD', 'Stop-VM', 'Suspend-VM', 'Export-VM', 'Import-VM', 'Get-VMKeyProtector', 'Remove-VMSavedState') { $cmdlets[$name] = Get-CmdletFacts $name }
    $types = @{}
    foreach ($name in 'VMBootSource', 'BootSourceType', 'VMState', 'VMOperationalStatus', 'SnapshotType', 'CheckpointType', 'GuestIsolationType', 'StartAction', 'StopAction', 'OnOffState') { $types[$name] = Get-TypeFacts $name }
    @{
        host = $facts
        cmdlets = $cmdlets
        types = $types
        errors = @{
            missing_name = Get-ErrorFacts { Hyper-V\Get-VM -Name $missing @server -ErrorAction Stop }
            missing_id = Get-ErrorFacts { Hyper-V\Get-VM -Id ([Guid] $missing) @server -ErrorAction Stop }
            missing_checkpoint = Get-ErrorFacts { Hyper-V\Get-VMSnapshot -Id ([Guid] $missing) @server -ErrorAction Stop }
            missing_disk = Get-ErrorFacts { Hyper-V\Get-VHD -Path ([IO.Path]::Combine([IO.Path]::GetTempPath(), "$missing.vhdx")) @server -ErrorAction Stop }
            all = Get-ErrorFacts { Hyper-V\Get-VM -Name '*' @server -ErrorAction Stop }
        }
        sight = Get-ReportFact { Get-SightFacts }
        firmware = Get-ReportFact { Get-FirmwareFacts }
        running = Get-ReportFact { Get-RunningFacts }
        templates = Get-ReportFact { [object[]] @((Hyper-V\Get-VMHost @server -ErrorAction Stop).SecureBootTemplates | ForEach-Object { @{ name = [string] $_.Name; id = [string] $_.Id } }) }
        language = @{
            culture = [Globalization.CultureInfo]::CurrentUICulture.Name
            output_encoding = [Console]::OutputEncoding.WebName
            input_encoding = [Console]::InputEncoding.WebName
            process_user_is_system = [Environment]::UserName -eq 'SYSTEM'
        }
        json = @{
            not_a_number = ConvertTo-Json -InputObject ([double]::NaN) -Compress
            guid = ConvertTo-Json -InputObject ([Guid] $missing) -Compress
            markup = ConvertTo-Json -InputObject "<a href='x'>&" -Compress
        }
    }
}
