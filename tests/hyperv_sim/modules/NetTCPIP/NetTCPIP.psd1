@{
    RootModule = 'NetTCPIP.psm1'
    ModuleVersion = '1.0.0.0'
    GUID = '6f0f8e4c-7b0d-4a8a-9c55-7f2be7f0b4d1'
    Author = 'hvlab'
    Description = 'Host addresses and neighbours of a simulated host.'
    PowerShellVersion = '5.1'
    FunctionsToExport = @('Get-NetIPAddress', 'New-NetIPAddress', 'Remove-NetIPAddress', 'Get-NetNeighbor')
    CmdletsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @()
}
