# The part of a Windows guest's registry that says where it keeps its crash dumps. A guest of the tests loads it by name; the
# values lie in a file of the test, and as on Windows variables in them are replaced when they are read.

function Get-ItemProperty {
    [CmdletBinding()] param([string] $LiteralPath)
    if ($LiteralPath -ne 'HKLM:\SYSTEM\CurrentControlSet\Control\CrashControl') {
        throw (New-Object Management.Automation.ItemNotFoundException "Cannot find path '$LiteralPath' because it does not exist.")
    }
    $settings = Get-Content -Raw -LiteralPath $env:HVLAB_CRASH_CONTROL | ConvertFrom-Json
    foreach ($property in $settings.PSObject.Properties) {
        if ($property.Value -is [string]) { $property.Value = [Environment]::ExpandEnvironmentVariables($property.Value) }
    }
    $settings
}

Export-ModuleMember -Function Get-ItemProperty
