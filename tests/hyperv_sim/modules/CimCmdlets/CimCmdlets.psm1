# CIM cmdlets against the simulated host; they are part of the same assembly as the Hyper-V cmdlets.
$root = Split-Path -Parent (Split-Path -Parent $PSScriptRoot)
Import-Module -Name (& "$root/build/build_assembly.ps1")
Set-Alias -Name gcim -Value Get-CimInstance
Set-Alias -Name icim -Value Invoke-CimMethod
Set-Alias -Name gcai -Value Get-CimAssociatedInstance
Export-ModuleMember -Cmdlet 'Get-CimInstance', 'Get-CimAssociatedInstance', 'Invoke-CimMethod' -Alias 'gcim', 'icim', 'gcai'
