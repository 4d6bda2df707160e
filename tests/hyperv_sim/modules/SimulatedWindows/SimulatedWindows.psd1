@{
    RootModule = 'SimulatedWindows.psm1'
    ModuleVersion = '1.0.0.0'
    GUID = '3d1f9d0e-5f0a-4b51-8c8d-2a54b8f6a7c2'
    Author = 'hvlab'
    Description = 'Commands of Windows that a control plane asks about its host.'
    PowerShellVersion = '5.1'
    FunctionsToExport = @('Get-Service', 'Get-WindowsOptionalFeature', 'Get-LocalGroupMember', 'whoami.exe', 'Edit-SimulatedDocument', 'Read-SimulatedDocument', 'Test-SimulatedAdministrator')
    CmdletsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @()
}
