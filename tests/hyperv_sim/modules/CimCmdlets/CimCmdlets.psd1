@{
    RootModule = 'CimCmdlets.psm1'
    ModuleVersion = '7.0.0.0'
    GUID = '13f27d95-f0c3-4571-9d51-8e3cb2d9f2f4'
    Author = 'hvlab'
    Description = 'The CIM cmdlets of a simulated Hyper-V host.'
    PowerShellVersion = '5.1'
    CmdletsToExport = @('Get-CimInstance', 'Get-CimAssociatedInstance', 'Invoke-CimMethod')
    FunctionsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @('gcim', 'icim', 'gcai')
}
