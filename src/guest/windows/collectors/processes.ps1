# Only an elevated account may see whose a process is.
$owners = @{}
try { Get-Process -IncludeUserName | ForEach-Object { $owners[[int] $_.Id] = [string] $_.UserName } }
catch { $owners = @{} }
$processes = @(Get-CimInstance -ClassName Win32_Process | Where-Object { $_.ProcessId -ne $PID } | ForEach-Object {
    @{
        pid = [int] $_.ProcessId
        parent = [int] $_.ParentProcessId
        name = [string] $_.Name
        command_line = [string] $_.CommandLine
        owner = [string] $owners[[int] $_.ProcessId]
        started = Format-Time $_.CreationDate
        cpu = [string] ([uint64] $_.KernelModeTime + [uint64] $_.UserModeTime)
        memory = [string] $_.WorkingSetSize
        threads = [int] $_.ThreadCount
    }
})
Write-Answer @{ processes = $processes }
