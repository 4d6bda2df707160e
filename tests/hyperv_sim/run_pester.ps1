<#
.SYNOPSIS
Runs the Pester tests of the simulated Hyper-V module; the last line is `pester: N passed, N failed, N skipped`.
#>
[CmdletBinding()]
param(
    # Only files whose name holds one of these texts, divided by commas.
    [string] $Only = '',
    # A JUnit file to write.
    [string] $Report = ''
)
$ErrorActionPreference = 'Stop'
$packages = if ($env:NUGET_PACKAGES) { $env:NUGET_PACKAGES } else { Join-Path $HOME '.nuget/packages' }
$manifest = Get-ChildItem -Path (Join-Path $packages 'pester/*/tools/Pester.psd1') -ErrorAction Ignore | Sort-Object FullName | Select-Object -Last 1
if ($manifest) { Import-Module $manifest.FullName } else { Import-Module Pester -MinimumVersion 5.5 }
$env:PSModulePath = (Join-Path $PSScriptRoot 'modules') + [IO.Path]::PathSeparator + $env:PSModulePath
$settings = New-PesterConfiguration
$wanted = @($Only -split ',')
$settings.Run.Path = @(Get-ChildItem -Path (Join-Path $PSScriptRoot 'pester/*.Tests.ps1') | Where-Object { $name = $_.Name; @($wanted | Where-Object { $name -like "*$_*" }).Count } | ForEach-Object { $_.FullName })
$settings.Run.PassThru = $true
# Without the collected facts the comparisons have no cases.
$settings.Run.FailOnNullOrEmptyForEach = $false
$settings.Output.Verbosity = 'None'
$settings.Output.RenderMode = 'Plaintext'
if ($Report) {
    $settings.TestResult.Enabled = $true
    $settings.TestResult.OutputFormat = 'JUnitXml'
    $settings.TestResult.OutputPath = $Report
}
$result = Invoke-Pester -Configuration $settings
foreach ($test in $result.Failed) { 'FAILED {0}: {1}' -f $test.ExpandedPath, ($test.ErrorRecord | ForEach-Object { $_.Exception.Message } | Select-Object -First 1) }
foreach ($block in @($result.FailedBlocks) + @($result.FailedContainers)) { 'FAILED {0}: {1}' -f $block, ($block.ErrorRecord | ForEach-Object { $_.Exception.Message } | Select-Object -First 1) }
$failed = $result.FailedCount + $result.FailedBlocksCount + $result.FailedContainersCount
'pester: {0} passed, {1} failed, {2} skipped' -f $result.PassedCount, $failed, $result.SkippedCount
exit [int] ($failed -gt 0)
