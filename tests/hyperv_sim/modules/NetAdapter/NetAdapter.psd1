@{
    RootModule = 'NetAdapter.psm1'
    ModuleVersion = '2.0.0.0'
    GUID = 'b8a9a6c4-33aa-4f0c-9b5e-0d92c2ba6a20'
    Author = 'hvlab'
    Description = 'Network adapters of a simulated host.'
    PowerShellVersion = '5.1'
    FunctionsToExport = @('Get-NetAdapter')
    CmdletsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @()
}
