<#
.SYNOPSIS
Gives the path of the assembly with the simulated cmdlets; compiles it when no compiled one fits.

.DESCRIPTION
The assembly is kept in a cache folder (HVLAB_HYPERV_SIM_CACHE, else hvlab-hyperv-sim in the temporary folder) under a name that
holds the hash of everything it is made from, the Windows Server generation and the version of PowerShell.
#>
[CmdletBinding()]
param(
    # 2016, 2019, 2022 or 2025; otherwise HVLAB_HYPERV_SIM_GENERATION, else what the world says, else 2025.
    [string] $Generation
)

function Get-WorldGeneration {
    if ($env:HVLAB_HYPERV_SIM_GENERATION) { return $env:HVLAB_HYPERV_SIM_GENERATION }
    if ($env:HVLAB_HYPERV_SIM) {
        $path = Join-Path $env:HVLAB_HYPERV_SIM 'host.json'
        if ([IO.File]::Exists($path) -and [IO.File]::ReadAllText($path) -match '"Generation"\s*:\s*"?(\d{4})') { return $Matches[1] }
    }
    '2025'
}

if (-not $Generation) { $Generation = Get-WorldGeneration }

$root = Split-Path -Parent $PSScriptRoot
$sources = @([IO.Directory]::GetFiles("$root/source", '*.cs', 'AllDirectories') | Sort-Object)
$inputs = $sources + "$root/data/cmdlets.txt", "$root/data/types.txt", "$PSScriptRoot/generate.ps1", $PSCommandPath
$hasher = [Security.Cryptography.SHA256]::Create()
$all = New-Object IO.MemoryStream
foreach ($file in $inputs) {
    $bytes = [IO.File]::ReadAllBytes($file)
    $all.Write($bytes, 0, $bytes.Length)
}
$hash = [BitConverter]::ToString($hasher.ComputeHash($all.ToArray())).Replace('-', '').Substring(0, 16)
$cache = $env:HVLAB_HYPERV_SIM_CACHE
if (-not $cache) { $cache = Join-Path ([IO.Path]::GetTempPath()) 'hvlab-hyperv-sim' }
$path = Join-Path $cache ('HyperVSimulation-{0}-{1}-{2}.dll' -f $Generation, $PSVersionTable.PSVersion, $hash)
if ([IO.File]::Exists($path)) { return $path }

. "$PSScriptRoot/generate.ps1"
[void] [IO.Directory]::CreateDirectory($cache)
$work = Join-Path $cache ([Guid]::NewGuid().ToString('N'))
[void] [IO.Directory]::CreateDirectory($work)
try {
    $generated = Join-Path $work 'Generated.cs'
    [IO.File]::WriteAllText($generated, (Get-GeneratedSource "$root/data" $Generation $sources))
    $draft = Join-Path $work ([IO.Path]::GetFileName($path))
    $infrastructure = [Microsoft.Management.Infrastructure.CimSession].Assembly.Location, [Management.Automation.PSObject].Assembly.Location
    $arguments = @{ Path = @($sources) + $generated; OutputAssembly = $draft; IgnoreWarnings = $true; WarningAction = 'SilentlyContinue'; ReferencedAssemblies = $infrastructure }
    if ($PSVersionTable.PSVersion.Major -ge 6) {
        # CS0436: two of our classes bear the names of PowerShell's own, on purpose.
        $arguments.ReferencedAssemblies += [IO.Directory]::GetFiles((Join-Path $PSHOME 'ref'), '*.dll')
        $arguments.CompilerOptions = '/langversion:5', '/nowarn:0436,1701', '/optimize+'
    }
    else {
        $arguments.ReferencedAssemblies += 'System.Core'
    }
    Add-Type @arguments -ErrorAction Stop
    # Another process may have been faster; its file is the same.
    if (-not [IO.File]::Exists($path)) { try { [IO.File]::Move($draft, $path) } catch [IO.IOException] { if (-not [IO.File]::Exists($path)) { throw } } }
}
finally {
    [IO.Directory]::Delete($work, $true)
}
$path
