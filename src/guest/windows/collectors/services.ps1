$services = @(Get-CimInstance -ClassName Win32_Service | ForEach-Object {
    @{
        name = [string] $_.Name
        description = [string] $_.DisplayName
        state = [string] $_.State
        start = [string] $_.StartMode
        pid = [int] $_.ProcessId
        exit_code = [long] $_.ExitCode
        service_code = [long] $_.ServiceSpecificExitCode
    }
})
Write-Answer @{ services = $services }
