# Turns data/cmdlets.txt and data/types.txt into C# 5 text. Dot-sourced by build_assembly.ps1.

$typeWords = @{ int16 = 'short'; uint16 = 'ushort'; uint32 = 'uint'; uint64 = 'ulong'; int32 = 'int'; int64 = 'long'; boolean = 'bool'
    string = 'string'; object = 'object'; guid = 'System.Guid'; datetime = 'System.DateTime'; timespan = 'System.TimeSpan'
    version = 'System.Version'; switch = 'SwitchParameter'; pscredential = 'PSCredential'; psobject = 'PSObject'
    hashtable = 'System.Collections.Hashtable'; 'Collections.Hashtable' = 'System.Collections.Hashtable'
    'Management.Automation.PSObject' = 'PSObject'; byte = 'byte'
    'Security.SecureString' = 'System.Security.SecureString'; 'Security.Principal.SecurityIdentifier' = 'string'
    CimInstance = 'Microsoft.Management.Infrastructure.CimInstance'; CimSession = 'Microsoft.Management.Infrastructure.CimSession' }

$vhdTypes = 'VirtualHardDisk', 'VHDSetInfo', 'VHDSnapshotInfo', 'VhdCompactMode', 'VhdFormat', 'VhdType'
$clientTypes = 'DisableOnFailoverFeature', 'VirtualHardDiskPmemAddressAbstractionType'
$vhdCmdletClasses = @{ 'Get-VHD' = 'GetVHD' }

# The C# spelling of a type word, its array and nullable marks kept.
function ConvertTo-CSharpType([string] $word) {
    if ($word -match '^(?:List|IList|IReadOnlyList|IReadOnlyCollection)<(.+)>$') { return 'System.Collections.Generic.List<{0}>' -f (ConvertTo-CSharpType $Matches[1]) }
    if ($word -notmatch '^(?<name>[^\[\]?]+)(?<mark>\?|\[\])?$') { throw "no C# type for '$word'" }
    $name = $Matches.name
    $mark = $Matches['mark']
    if ($typeWords.ContainsKey($name)) { $name = $typeWords[$name] }
    $name = $name -replace '^Microsoft\.Virtualization\.Client\.Management\.(?=Secure)' -replace '^Commands\.RestartVM\+', 'Microsoft.HyperV.PowerShell.Commands.RestartVM.' -replace '^Vhd\.', 'Microsoft.Vhd.PowerShell.'
    if ($vhdTypes -ccontains $name) { $name = "Microsoft.Vhd.PowerShell.$name" }
    if ($clientTypes -ccontains $name) { $name = "Microsoft.Virtualization.Client.Management.$name" }
    if ($name -match '^(VM|HardDiskDrive$|DvdDrive$|Virtual[MH]|SecureBoot|Drive$)' -or $hyperVTypes.ContainsKey($name)) {
        if ($name -notmatch '\.') { $name = "Microsoft.HyperV.PowerShell.$name" }
    }
    $name + $mark
}

function Test-Since([string] $since, [string] $generation) { -not $since -or [int] $since -le [int] $generation }

# The class that implements a cmdlet, with its namespace.
function Get-CmdletClass([string] $name) {
    $verb, $noun = $name -split '-', 2
    if ($noun -notlike 'VHD*') { return 'Microsoft.HyperV.PowerShell.Commands', ($verb + $noun) }
    $class = if ($vhdCmdletClasses.ContainsKey($name)) { $vhdCmdletClasses[$name] } elseif ($noun -ceq 'VHD') { $verb + 'Vhd' } else { $verb + $noun }
    'Microsoft.Vhd.PowerShell.Cmdlets', $class
}

function Read-CmdletTable([string] $path) {
    $cmdlet = $null
    foreach ($line in [IO.File]::ReadAllLines($path)) {
        if ($line -match '^(#|$)') { continue }
        $cells = $line.Trim() -split ' \| '
        if (-not $line.StartsWith(' ')) {
            if ($cmdlet) { $cmdlet }
            $cmdlet = @{ name = $cells[0]; default = ''; outputs = @(); impact = ''; since = ''; parameters = @() }
            foreach ($cell in $cells | Select-Object -Skip 1) {
                $word, $value = $cell -split ' ', 2
                if ($word -eq 'output') { $cmdlet.outputs = $value -split ' ' } else { $cmdlet[$word] = $value }
            }
            continue
        }
        $parameter = @{ name = $cells[0]; type = $cells[1]; sets = @(); aliases = @(); checks = @(); since = '' }
        foreach ($set in $cells[2] -split '; ') {
            $setName, $flags = $set -split '=', 2
            $parameter.sets += , @($setName, "$flags")
        }
        foreach ($cell in $cells | Select-Object -Skip 3) {
            $word, $value = $cell -split ' ', 2
            switch ($word) {
                'alias' { $parameter.aliases = $value -split ' ' }
                'check' { $parameter.checks += $value }
                'since' { $parameter.since = $value }
            }
        }
        $cmdlet.parameters += $parameter
    }
    if ($cmdlet) { $cmdlet }
}

function ConvertTo-CheckAttribute([string] $check) {
    if ($check -match "^ValidateSet\((.+)\)$") { return '[ValidateSet({0})]' -f ($Matches[1] -replace "'", '"') }
    if ($check -match "^PSTypeName\('(.+)'\)$") { return '[PSTypeName("{0}")]' -f $Matches[1] }
    "[$($check -replace '\(\)$')]"
}

function ConvertTo-ParameterText([hashtable] $parameter) {
    foreach ($set in $parameter.sets) {
        $arguments = @()
        if ($set[0] -ne '*') { $arguments += 'ParameterSetName = "{0}"' -f $set[0] }
        foreach ($flag in $set[1] -split ' ') {
            switch -CaseSensitive -Regex ($flag) {
                '^M$' { $arguments += 'Mandatory = true' }
                '^P(\d+)$' { $arguments += "Position = $($Matches[1])" }
                '^V$' { $arguments += 'ValueFromPipeline = true' }
                '^N$' { $arguments += 'ValueFromPipelineByPropertyName = true' }
            }
        }
        '    [Parameter({0})]' -f ($arguments -join ', ')
    }
    if ($parameter.aliases.Count) { '    [Alias({0})]' -f (($parameter.aliases | ForEach-Object { '"{0}"' -f $_ }) -join ', ') }
    foreach ($check in $parameter.checks) { '    ' + (ConvertTo-CheckAttribute $check) }
    '    public {0} {1} {{ get; set; }}' -f (ConvertTo-CSharpType $parameter.type), $parameter.name
}

function ConvertTo-CmdletText([hashtable] $cmdlet, [string] $generation) {
    $namespace, $class = Get-CmdletClass $cmdlet.name
    $verb, $noun = $cmdlet.name -split '-', 2
    $arguments = @('"{0}", "{1}"' -f $verb, $noun)
    if ($cmdlet.default) { $arguments += 'DefaultParameterSetName = "{0}"' -f $cmdlet.default }
    if ($cmdlet.impact) { $arguments += 'SupportsShouldProcess = true', "ConfirmImpact = ConfirmImpact.$($cmdlet.impact)" }
    "namespace $namespace {"
    '  [Cmdlet({0})]' -f ($arguments -join ', ')
    foreach ($output in $cmdlet.outputs) {
        $type = $output -replace '^.*\.'
        if ($hyperVTypes.ContainsKey($type)) { '  [OutputType(typeof({0}))]' -f (ConvertTo-CSharpType $type) } else { '  [OutputType("{0}")]' -f $output }
    }
    # A class with behaviour names its base class in its own half.
    $base = if ($behaviours -contains $class) { '' } else { ' : HvlabSimulation.SimulatedCmdlet' }
    "  public partial class $class$base {"
    foreach ($parameter in $cmdlet.parameters) {
        if (Test-Since $parameter.since $generation) { ConvertTo-ParameterText $parameter }
    }
    '  }'
    '}'
}

function ConvertTo-MemberText([string] $line, [string] $generation, [bool] $live) {
    $words = $line.Trim() -split ' '
    $options = @($words | Select-Object -Skip 2)
    if ($options.Count -eq 2 -and -not (Test-Since $options[1] $generation)) { return }
    $type = ConvertTo-CSharpType $words[1]
    $kind = if ($options -contains 'override') { 'override' } else { 'virtual' }
    if ($live) { '    public {0} {1} {2} {{ get {{ return Read<{1}>("{2}"); }} }}' -f $kind, $type, $words[0] }
    else { '    public {0} {1} {{ get; internal set; }}' -f $type, $words[0] }
}

# Enumerations and output classes. Classes below VirtualizationObject read the world at each access, the others are filled once.
function ConvertTo-TypesText([string] $path, [string] $generation) {
    $lines = [IO.File]::ReadAllLines($path)
    $inClass = $false
    $live = $false
    foreach ($line in $lines) {
        if ($line -match '^enum (\S+) (.+)$') {
            $name = $Matches[1]
            if ($name -like 'RestartVM.*') {
                'namespace Microsoft.HyperV.PowerShell.Commands {{ public partial class RestartVM {{ public enum {0} {{ {1} }} }} }}' -f ($name -replace '^.*\.'), ($Matches[2] -replace ' ', ', ')
                continue
            }
            $namespace = if ($vhdTypes -ccontains $name) { 'Microsoft.Vhd.PowerShell' } elseif ($clientTypes -ccontains $name) { 'Microsoft.Virtualization.Client.Management' } else { 'Microsoft.HyperV.PowerShell' }
            'namespace {0} {{ public enum {1} {{ {2} }} }}' -f $namespace, $name, ($Matches[2] -replace ' ', ', ')
        }
        elseif ($line -match '^class (\S+)(?: : (\S+))?$') {
            $base = $Matches[2]
            $live = [bool] $base
            $namespace = if ($vhdTypes -ccontains $Matches[1]) { 'Microsoft.Vhd.PowerShell' } else { 'Microsoft.HyperV.PowerShell' }
            'namespace {0} {{ public partial class {1}{2} {{' -f $namespace, $Matches[1], $(if ($base) { " : $base" })
            $inClass = $true
        }
        elseif ($line.StartsWith('  ')) { ConvertTo-MemberText $line $generation $live }
        elseif ($line -eq '' -and $inClass) { '} }'; $inClass = $false }
    }
    if ($inClass) { '} }' }
}

function Read-TypeNames([string] $path) {
    $names = @{}
    foreach ($line in [IO.File]::ReadAllLines($path)) { if ($line -match '^(?:enum|class) ([\w.]+)') { $names[$Matches[1]] = $true } }
    $names
}

# The cmdlet classes that hand-written files give behaviour.
function Get-BehaviourClasses([string[]] $sources) {
    foreach ($source in $sources) {
        foreach ($match in [regex]::Matches([IO.File]::ReadAllText($source), 'public partial class (\w+) : \w*Cmdlet')) { $match.Groups[1].Value }
    }
}

# All generated C#: what the data files say, for one Windows Server generation.
function Get-GeneratedSource([string] $dataFolder, [string] $generation, [string[]] $sources) {
    $behaviours = @(Get-BehaviourClasses $sources)
    $hyperVTypes = Read-TypeNames (Join-Path $dataFolder 'types.txt')
    $text = @('using System.Management.Automation;', 'using Microsoft.HyperV.PowerShell;')
    $text += ConvertTo-TypesText (Join-Path $dataFolder 'types.txt') $generation
    foreach ($cmdlet in Read-CmdletTable (Join-Path $dataFolder 'cmdlets.txt')) {
        if (Test-Since $cmdlet.since $generation) { $text += ConvertTo-CmdletText $cmdlet $generation }
    }
    $text -join "`n"
}
