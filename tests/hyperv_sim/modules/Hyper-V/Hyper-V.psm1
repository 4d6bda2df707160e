# The simulated Hyper-V module: loads the compiled cmdlets and, when the world asks for it, is slow and noisy while doing so.

$root = Split-Path -Parent (Split-Path -Parent $PSScriptRoot)

# A file of the world as an object; nothing when there is none.
function Read-WorldFile([string] $name) {
    if (-not $env:HVLAB_HYPERV_SIM) { return }
    $path = Join-Path $env:HVLAB_HYPERV_SIM $name
    if ([IO.File]::Exists($path)) { [IO.File]::ReadAllText($path) | ConvertFrom-Json }
}

function Write-ImportNoise {
    [Console]::Out.WriteLine('Welcome to the simulated host')
    [Console]::Out.Write([char] 0xFEFF)
    [Console]::Out.WriteLine('{"id":1,"ok":true,"result":"not a reply"}')
    Write-Warning 'simulated noise: warning on import'
    Write-Verbose 'simulated noise: verbose on import' -Verbose
    Write-Information 'simulated noise: information on import' -InformationAction Continue
    Write-Progress -Activity 'Preparing modules for first use.' -Status ' ' -PercentComplete 50
    [Console]::Error.WriteLine('#< CLIXML')
    [Console]::Error.WriteLine('<Objs Version="1.1.0.1"><S S="progress">' + ('x' * 200KB) + '</S></Objs>')
    [Console]::Out.Write('half a line without an end')
    [Console]::Out.Flush()
    [Console]::Error.Flush()
}

$faults = Read-WorldFile 'faults.json'
if ($faults -and $faults.PSObject.Properties['import_noise'] -and $faults.import_noise) { Write-ImportNoise }
if ($faults -and $faults.PSObject.Properties['import_seconds']) { Start-Sleep -Milliseconds ([int] (1000 * $faults.import_seconds)) }
if ($faults -and $faults.PSObject.Properties['import_until']) {
    [IO.File]::WriteAllText([IO.Path]::Combine($env:HVLAB_HYPERV_SIM, 'importing'), '')
    while (-not [IO.File]::Exists([IO.Path]::Combine($env:HVLAB_HYPERV_SIM, $faults.import_until))) { Start-Sleep -Milliseconds 20 }
}
if ($faults -and $faults.PSObject.Properties['import_fails'] -and $faults.import_fails) { throw 'The simulated module cannot be loaded.' }

Import-Module -Name (& "$root/build/build_assembly.ps1")
foreach ($verb in 'Export', 'Get', 'Remove', 'Rename', 'Restore') { Set-Alias -Name "$verb-VMCheckpoint" -Value "$verb-VMSnapshot" }
Export-ModuleMember -Cmdlet '*-VM*', '*-VHD*', 'New-VFD', 'New-PSSession', 'Invoke-Command' -Alias '*-VMCheckpoint'
