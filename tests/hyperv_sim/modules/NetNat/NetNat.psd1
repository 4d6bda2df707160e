@{
    RootModule = 'NetNat.psm1'
    ModuleVersion = '1.0.0.0'
    GUID = '0b1a2f6c-74a1-4f53-9b16-7f2c5a7c1d10'
    Author = 'hvlab'
    Description = 'The NetNat cmdlets of a simulated host.'
    PowerShellVersion = '5.1'
    FunctionsToExport = @('Get-NetNat', 'New-NetNat', 'Set-NetNat', 'Remove-NetNat', 'Get-NetNatStaticMapping', 'Add-NetNatStaticMapping', 'Remove-NetNatStaticMapping')
    CmdletsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @()
}
