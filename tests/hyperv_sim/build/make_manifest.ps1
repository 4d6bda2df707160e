<#
.SYNOPSIS
Writes modules/Hyper-V/Hyper-V.psd1 from data/cmdlets.txt, so that commands are found without an import.
#>
$root = Split-Path -Parent $PSScriptRoot
. "$PSScriptRoot/generate.ps1"
$hyperVTypes = @{}
$names = @(Read-CmdletTable "$root/data/cmdlets.txt" | ForEach-Object { $_.name } | Sort-Object)
$list = ($names | ForEach-Object { "        '$_'" }) -join "`n"
$text = @"
# Written by build/make_manifest.ps1; do not edit.
@{
    RootModule = 'Hyper-V.psm1'
    ModuleVersion = '2.0.0.0'
    GUID = 'af4bddd0-8583-4ff2-84b2-a33f5c8de8a7'
    Author = 'hvlab'
    Description = 'A simulated Hyper-V for tests.'
    PowerShellVersion = '5.1'
    TypesToProcess = 'Hyper-V.types.ps1xml'
    FormatsToProcess = 'Hyper-V.format.ps1xml'
    CmdletsToExport = @(
$list
        'New-PSSession'
        'Invoke-Command'
    )
    FunctionsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @('Export-VMCheckpoint', 'Get-VMCheckpoint', 'Remove-VMCheckpoint', 'Rename-VMCheckpoint', 'Restore-VMCheckpoint')
    PrivateData = @{ HvlabSimulation = `$true }
}
"@
[IO.File]::WriteAllText("$root/modules/Hyper-V/Hyper-V.psd1", $text.Replace("`r`n", "`n") + "`n")
