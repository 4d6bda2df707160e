<#
.SYNOPSIS
Writes data/cmdlets.txt and data/types.txt from the collected facts about the published Hyper-V module.

.DESCRIPTION
Facts are names, types, parameter sets, positions, aliases, mandatory flags, ranges and the integers of enumerations. They come
from a reflection of the real module (2020) and from the published help of Windows Server 2016, 2019, 2022 and 2025. `since`
names the first help that documents a cmdlet or a parameter; without it the fact holds for every generation.
Run it again whenever the facts change:

    pwsh -NoProfile -File derive_data.ps1 -Facts ../../../shared/hyperv
#>
[CmdletBinding()]
param(
    # Folder with cmdlets-reflected.json, cmdlets-documented.json and types.json.
    [Parameter(Mandatory = $true)] [string] $Facts
)

Set-StrictMode -Version 3
$ErrorActionPreference = 'Stop'

$firstGeneration = '2016'
$dataFolder = Join-Path $PSScriptRoot 'data'

# Base classes; the rest follows from the members that a class has.
$baseClasses = @{
    VirtualMachine           = 'VirtualMachineBase'
    VMSnapshot               = 'VirtualMachineBase'
    VirtualMachineBase       = 'ComputeResource'
    VMNetworkAdapter         = 'VMNetworkAdapterBase'
    VMInternalNetworkAdapter = 'VMNetworkAdapterBase'
    HardDiskDrive            = 'Drive'
    DvdDrive                 = 'Drive'
    KeyStorageDrive          = 'Drive'
    VMScsiController         = 'VMDriveController'
    VMIdeController          = 'VMDriveController'
    VMPmemController         = 'VMDriveController'
}

# Members that newer builds show, and the member after which they stand.
$laterMembers = @(
    @{ Class = 'VirtualMachine'; After = 'ConfigurationLocation'; Name = 'GuestStatePath'; Type = 'String' }
    @{ Class = 'VirtualMachine'; After = 'VirtualMachineSubType'; Name = 'GuestStateIsolationType'; Type = 'GuestIsolationType' }
    @{ Class = 'VirtualMachineBase'; After = 'State'; Name = 'ComPorts'; Type = 'VMComPort[]' }
    @{ Class = 'VirtualMachineBase'; After = 'HighMemoryMappedIoSpace'; Name = 'HighMemoryMappedIoBaseAddress'; Type = 'UInt64' }
    @{ Class = 'VMProcessor'; After = 'CompatibilityForMigrationEnabled'; Name = 'CompatibilityForMigrationMode'; Type = 'CompatibilityForMigrationMode' }
    @{ Class = 'VMProcessor'; After = 'EnableLegacyApicMode'; Name = 'ApicMode'; Type = 'ApicMode' }
    @{ Class = 'VMProcessor'; After = 'AllowACountMCount'; Name = 'CpuBrandString'; Type = 'String' }
    @{ Class = 'VMProcessor'; After = 'AllowACountMCount'; Name = 'PerfCpuFreqCapMhz'; Type = 'UInt32' }
    @{ Class = 'VMSwitch'; After = 'EmbeddedTeamingEnabled'; Name = 'AllowNetLbfoTeams'; Type = 'Boolean' }
    @{ Class = 'VMSwitch'; After = 'SoftwareRscEnabled'; Name = 'RscOffloadEnabled'; Type = 'Boolean' }
)

# Classes that the reflection names without members, with the members that documentation and scripts use.
$secondaryClasses = @(
    'class VMBootSource : VMComponentObject', '  BootType BootSourceType', '  Description String', '  FirmwarePath String',
    '  Device VMComponentObject', '',
    'class VMCompatibilityError', '  Message String', '  MessageId Int32', '  Source Object', '',
    'class VMCurrentTask', '  PercentComplete Int32', '',
    'class VMHostPartitionableGpu : VMPartitionableGpu', '',
    'class VMExternalNetworkAdapter : VMNetworkAdapterBase', '',
    'class VHDMetrics', '  VirtualHardDisk HardDiskDrive', '  AverageNormalizedIOPS UInt64?', '  AverageLatency UInt64?',
    '  DataRead UInt64?', '  DataWritten UInt64?', '  NormalizedIOCount UInt64?', '',
    'class VMPortAclMeteringReport', '  NetworkAdapter Object', '  LocalAddress String', '  RemoteAddress String',
    '  Direction VMNetworkAdapterAclDirection', '  TotalTraffic UInt64?', '',
    'class SecureBootTemplate', '  Name String', '  Id Guid', '  Description String', '',
    'class VMNumaNodeStatus', '  NodeId Int32', '  VMId Guid', '  VMName String', '  MemoryUsed Int32', '',
    'class VMNetworkAdapterBandwidthSetting : VirtualizationObject', '  MinimumBandwidthAbsolute Int64',
    '  MinimumBandwidthWeight Int64', '  MaximumBandwidth Int64', '')

# Enumerations whose integers nobody has published; ours count from zero.
$unnumberedEnums = @(
    'enum GuestIsolationType TrustedLaunch=0 VBS=1 SNP=2 TDX=3 Disabled=16'
    'enum BootSourceType Unknown=0 Drive=1 Network=2 File=3'
    'enum CompatibilityForMigrationMode MinimumFeatureSet=0 CommonClusterFeatureSet=1'
    'enum ApicMode Default=0 Legacy=1 X2Apic=2'
    'enum WaitVMTypes Heartbeat=0 IPAddress=1'
)

function Read-Json([string] $name) {
    Get-Content -Raw -LiteralPath (Join-Path $Facts $name) | ConvertFrom-Json -AsHashtable
}

# The type words of the help, spelt as the reflection spells them.
function Convert-DocumentedType([string] $type) {
    $words = @{ 'String' = 'string'; 'String[]' = 'string[]'; 'UInt16' = 'uint16?'; 'UInt32' = 'uint32?'; 'SwitchParameter' = 'switch'
        'PSCredential[]' = 'pscredential[]'; 'GuestIsolationType' = 'GuestIsolationType?' }
    if ($words.ContainsKey($type)) { $words[$type] } else { $type }
}

function Format-Parameter([string] $name, [hashtable] $parameter, [string] $since) {
    $sets = foreach ($set in $parameter.sets.Keys | Sort-Object) { ('{0}={1}' -f $set, $parameter.sets[$set]).TrimEnd('=') }
    $type = $parameter.type
    $checks = @()
    if ($parameter.ContainsKey('validate')) { $checks = @($parameter.validate) }
    if ($type -eq 'System.Management.Automation.CredentialAttribute()') { $type = 'pscredential'; $checks += 'Credential()' }
    $line = '  {0} | {1} | {2}' -f $name, $type, ($sets -join '; ')
    if ($parameter.ContainsKey('aliases')) { $line += ' | alias {0}' -f ($parameter.aliases -join ' ') }
    foreach ($check in $checks) { $line += ' | check {0}' -f $check }
    if ($since) { $line += " | since $since" }
    $line
}

function Format-DocumentedParameter([string] $name, [object[]] $entries, [string] $since) {
    $parameter = @{ type = Convert-DocumentedType $entries[0].type; sets = @{} }
    foreach ($entry in $entries) {
        $flags = @()
        if ($entry.required) { $flags += 'M' }
        if ($entry.position -ne 'Named') { $flags += "P$($entry.position)" }
        if ($entry.pipeline -match 'ByValue') { $flags += 'V' }
        if ($entry.pipeline -match 'ByPropertyName') { $flags += 'N' }
        foreach ($set in $entry.sets) { $parameter.sets[($set -replace '^\(All\)$', '*')] = $flags -join ' ' }
    }
    if ($entries[0].ContainsKey('aliases')) { $parameter.aliases = $entries[0].aliases }
    Format-Parameter $name $parameter $since
}

# The name that the help gives a parameter whose reflected name it lists as an alias.
function Get-PresentName([string] $parameter, [hashtable] $documented) {
    if ($documented) {
        foreach ($name in $documented.params.Keys) { if (@($documented.params[$name][0]['aliases']) -contains $parameter) { return $name } }
    }
    $parameter
}

function Format-Cmdlet([string] $name, [hashtable] $reflected, [hashtable] $documented) {
    $since = ''
    if ($documented -and $documented.in[0] -ne $firstGeneration) { $since = $documented.in[0] }
    $line = $name
    $default = if ($reflected.ContainsKey('defaultSet')) { $reflected.defaultSet } else { '' }
    if (-not $reflected.ContainsKey('params') -and $documented) { $default = $documented.default }
    if ($default -and $default -ne '__AllParameterSets') { $line += " | default $default" }
    $outputs = @()
    if ($reflected.ContainsKey('output')) { $outputs = @($reflected.output) }
    if ($outputs.Count) { $line += ' | output {0}' -f ($outputs -join ' ') }
    if ($reflected.ContainsKey('shouldProcess')) { $line += ' | impact {0}' -f $(if ($reflected.ContainsKey('confirmImpact')) { $reflected.confirmImpact } else { 'Medium' }) }
    if ($since) { $line += " | since $since" }
    $line

    $known = @{}
    if ($reflected.ContainsKey('params')) {
        foreach ($parameter in $reflected.params.Keys) {
            $facts = $reflected.params[$parameter]
            $known[$parameter] = $true
            foreach ($alias in @($facts['aliases'])) { if ($alias) { $known[$alias] = $true } }
            $name = Get-PresentName $parameter $documented
            if ($name -ne $parameter) {
                $facts.aliases = @($parameter)
                $known[$name] = $true
            }
            Format-Parameter $name $facts ''
        }
    }
    if (-not $documented) { return }
    foreach ($parameter in $documented.params.Keys | Sort-Object) {
        if ($known.ContainsKey($parameter) -or $parameter -in 'Confirm', 'WhatIf') { continue }
        $parameterSince = if ($documented.paramsSince.ContainsKey($parameter)) { $documented.paramsSince[$parameter] } else { '' }
        Format-DocumentedParameter $parameter $documented.params[$parameter] $parameterSince
    }
}

function Get-BaseClass([string] $name, [hashtable] $classes) {
    if ($baseClasses.ContainsKey($name)) { return $baseClasses[$name] }
    $members = $classes[$name].Keys
    if ($members -contains 'CimSession' -and $members -contains 'IsDeleted') {
        if ($name -ne 'VMComponentObject' -and $members -contains 'VMSnapshotId') { return 'VMComponentObject' }
        return 'VirtualizationObject'
    }
    ''
}

function Get-AllMembers([string] $name, [hashtable] $classes) {
    switch ($name) {
        '' { @() }
        'VirtualizationObject' { 'CimSession', 'ComputerName', 'IsDeleted' }
        'ComputeResource' { Get-AllMembers 'VirtualizationObject' $classes }
        'Drive' { @('ControllerLocation', 'ControllerNumber', 'ControllerType', 'Name', 'PoolName', 'Id') + @(Get-AllMembers 'VMComponentObject' $classes) }
        default { @($classes[$name].Keys) }
    }
}

# The members that a class declares itself, so that reflection shows all of them in the published order: its own ones, and those
# of its base class that stand before its last own one (they are overrides).
function Get-DeclaredMembers([string[]] $members, [string[]] $inherited) {
    for ($count = 0; $count -le $members.Count; $count++) {
        $declared = @($members | Select-Object -First $count)
        $rest = @($members | Select-Object -Skip $count)
        $left = @($inherited | Where-Object { $declared -notcontains $_ })
        if (($rest -join ' ') -eq ($left -join ' ')) { return $declared }
    }
}

function Format-Class([string] $name, [hashtable] $classes) {
    $base = Get-BaseClass $name $classes
    $inherited = @(Get-AllMembers $base $classes)
    $head = "class $name"
    if ($base) { $head += " : $base" }
    $head
    foreach ($member in @(Get-DeclaredMembers @($classes[$name].Keys) $inherited)) {
        $line = '  {0} {1}' -f $member, $classes[$name][$member]
        if ($inherited -contains $member) { $line += ' override' }
        $line
        foreach ($later in $laterMembers) {
            if ($later.Class -eq $name -and $later.After -eq $member) { '  {0} {1} since 2025' -f $later.Name, $later.Type }
        }
    }
    ''
}

$reflected = (Read-Json 'cmdlets-reflected.json').cmdlets
$documented = (Read-Json 'cmdlets-documented.json').modules['Hyper-V']
$types = Read-Json 'types.json'

$lines = @('# Cmdlets of the published Hyper-V module. Written by derive_data.ps1; do not edit.'
    '# cmdlet | default SET | output CLASS... | impact LEVEL (supports -WhatIf) | since GENERATION'
    '#   parameter | type | set=flags; ... (* is every set; M mandatory, Pn position, V from pipeline, N by property name) | ...')
foreach ($name in $reflected.Keys) {
    if ($reflected[$name]['module'] -eq 'NetNat') { continue }
    $lines += ''
    $lines += Format-Cmdlet $name $reflected[$name] $documented[$name]
}
[IO.File]::WriteAllText((Join-Path $dataFolder 'cmdlets.txt'), (($lines -join "`n") + "`n"))

$lines = @('# Enumerations and output classes of the published Hyper-V module. Written by derive_data.ps1; do not edit.', '')
foreach ($name in $types.enums.Keys) {
    if ($types.enums[$name] -isnot [hashtable]) { continue }
    $lines += 'enum {0} {1}' -f $name, (($types.enums[$name].GetEnumerator() | ForEach-Object { '{0}={1}' -f $_.Key, $_.Value }) -join ' ')
}
$lines += $unnumberedEnums
$lines += ''
$lines += @('class Drive : VMComponentObject', '  ControllerLocation Int32', '  ControllerNumber Int32', '  ControllerType ControllerType',
    '  Name String', '  PoolName String', '  Id String', '')
foreach ($name in $types.classes.Keys) { $lines += Format-Class $name $types.classes }
$lines += $secondaryClasses
[IO.File]::WriteAllText((Join-Path $dataFolder 'types.txt'), (($lines -join "`n").TrimEnd() + "`n"))
