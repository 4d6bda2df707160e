# What the Pester files share: the simulation's folders, fresh worlds, the collected facts.

$simulationRoot = Split-Path -Parent $PSScriptRoot
$sharedFacts = if ($env:HVLAB_SHARED) { Join-Path $env:HVLAB_SHARED 'hyperv' } else { Join-Path $simulationRoot '../../../shared/hyperv' }
$hasFacts = Test-Path -LiteralPath (Join-Path $sharedFacts 'cmdlets-reflected.json')

# The PowerShell that runs this, for child processes.
$shell = Join-Path $PSHOME $(if ($PSVersionTable.PSEdition -eq 'Desktop') { 'powershell.exe' } elseif ($IsWindows) { 'pwsh.exe' } else { 'pwsh' })

function Read-Facts([string] $name) { Get-Content -Raw -LiteralPath (Join-Path $sharedFacts $name) | ConvertFrom-Json -AsHashtable }

# A new folder with a new world; documents go in before the first use.
function New-World([hashtable] $Documents = @{}) {
    $folder = Join-Path ([IO.Path]::GetTempPath()) ('hvlab-world-' + [Guid]::NewGuid().ToString('N'))
    [void] [IO.Directory]::CreateDirectory($folder)
    foreach ($name in $Documents.Keys) { [IO.File]::WriteAllText((Join-Path $folder "$name.json"), (ConvertTo-Json -InputObject $Documents[$name] -Depth 10)) }
    $env:HVLAB_HYPERV_SIM = $folder
    $folder
}

function Set-Faults([hashtable] $Faults) { [IO.File]::WriteAllText((Join-Path $env:HVLAB_HYPERV_SIM 'faults.json'), (ConvertTo-Json -InputObject $Faults -Depth 10)) }

function Remove-World([string] $Folder) { Remove-Item -Recurse -Force -LiteralPath $Folder -ErrorAction Ignore }

# The cmdlets of one generation, from the compiled assembly alone: name to CmdletInfo.
function Get-CompiledCmdlets([string] $Generation) {
    $assembly = [Reflection.Assembly]::LoadFrom((& "$simulationRoot/build/build_assembly.ps1" -Generation $Generation))
    $cmdlets = @{}
    foreach ($type in $assembly.GetTypes()) {
        $attribute = $type.GetCustomAttributes([Management.Automation.CmdletAttribute], $false)
        if (-not $attribute) { continue }
        $name = '{0}-{1}' -f $attribute[0].VerbName, $attribute[0].NounName
        $cmdlets[$name] = [Management.Automation.CmdletInfo]::new($name, $type)
    }
    $cmdlets
}

# A .NET type spelt as the facts spell it.
function Get-TypeWord([type] $type) {
    $inner = [Nullable]::GetUnderlyingType($type)
    if ($inner) { return (Get-TypeWord $inner) + '?' }
    if ($type.IsArray) { return (Get-TypeWord $type.GetElementType()) + '[]' }
    $words = @{ Int32 = 'int'; Int64 = 'long'; Boolean = 'bool'; SwitchParameter = 'switch'; Byte = 'byte' }
    if ($words.ContainsKey($type.Name)) { return $words[$type.Name] }
    $name = if ($type.IsNested) { 'Commands.{0}+{1}' -f $type.DeclaringType.Name, $type.Name } else { $type.Name }
    if ($type.Namespace -eq 'Microsoft.Vhd.PowerShell') { return "Vhd.$name" }
    if ($type.Namespace -eq 'Microsoft.Virtualization.Client.Management') { return "$($type.Namespace).$name" }
    $name
}

# The parameter sets of a parameter as the facts write them: set name to flags.
function Get-SetFlags([Management.Automation.ParameterMetadata] $parameter) {
    $sets = @{}
    foreach ($set in $parameter.ParameterSets.Keys) {
        $data = $parameter.ParameterSets[$set]
        $flags = @()
        if ($data.IsMandatory) { $flags += 'M' }
        if ($data.Position -ge 0) { $flags += "P$($data.Position)" }
        if ($data.ValueFromPipeline) { $flags += 'V' }
        if ($data.ValueFromPipelineByPropertyName) { $flags += 'N' }
        $sets[($set -replace '^__AllParameterSets$', '*')] = $flags -join ' '
    }
    $sets
}

function Format-Sets([hashtable] $sets) { ($sets.Keys | Sort-Object | ForEach-Object { '{0}=[{1}]' -f $_, $sets[$_] }) -join '; ' }
