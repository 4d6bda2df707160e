# The loop of the sidecar. Requests come as lines of JSON; each runs in a runspace of its own time and answers with frames:
# a line that begins with the mark and the request's id. Whatever else stands on standard output is not ours.
param($reader)

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# Windows PowerShell started by PowerShell 7 inherits its module path and then finds the wrong core modules.
if ($PSVersionTable.PSVersion.Major -lt 6) {
    $env:PSModulePath = "$PSHOME\Modules;$env:ProgramFiles\WindowsPowerShell\Modules;" + [Environment]::GetEnvironmentVariable('PSModulePath', 'Machine')
}

$hello = ConvertFrom-Json -InputObject $reader.ReadLine()
$shared = [hashtable]::Synchronized(@{
    Output = [IO.Stream]::Synchronized([Console]::OpenStandardOutput())
    Library = $hello.library
    Modules = $hello.modules
    Replied = [hashtable]::Synchronized(@{})
    Server = @{}
    GuestEnd = $hello.guest_end
    Sessions = [hashtable]::Synchronized(@{})
    Turns = [hashtable]::Synchronized(@{})
    Tied = [hashtable]::Synchronized(@{})
    Restored = @()
    Imported = 0
})

# A frame goes out in one write, so that nobody's text gets into the middle of it; the line end before it closes whatever half
# line stands there.
function Write-Frame([string] $id, $frame) {
    $bytes = [Text.Encoding]::UTF8.GetBytes("`n#hvlab $id " + (ConvertTo-Json -InputObject $frame -Depth 10 -Compress) + "`n")
    $shared.Output.Write($bytes, 0, $bytes.Length)
    $shared.Output.Flush()
}

# Texts come with a mark before them: without it ConvertFrom-Json would make dates of those that look like one.
function ConvertTo-Argument($value) {
    if ($value -is [string]) { return $value.Substring(1) }
    if ($value -is [array]) { return , @($value | ForEach-Object { ConvertTo-Argument $_ }) }
    $value
}

# A runspace that nobody uses. One whose call has replied is about to be free, and is waited for: another one would have to load
# the module first. Nothing when all are busy and there may be no more.
function Get-IdleRunspace {
    foreach ($id in @($open.Keys)) {
        if ($shared.Replied.ContainsKey($id)) { [void] $open[$id].Handle.AsyncWaitHandle.WaitOne(1000) }
    }
    Update-Requests
    $busy = @($open.Values | ForEach-Object { $_.Shell.Runspace })
    foreach ($one in $runspaces) {
        if ($busy -contains $one) { continue }
        for ($look = 0; $look -lt 100 -and [string] $one.RunspaceAvailability -ne 'Available'; $look++) { Start-Sleep -Milliseconds 1 }
        if ([string] $one.RunspaceAvailability -eq 'Available') { return $one }
    }
    if ($runspaces.Count -ge [int] $hello.workers) { return }
    $new = [Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace()
    $new.Open()
    [void] $runspaces.Add($new)
    $new
}

# Begins what waits for a runspace, oldest first.
function Start-Waiting {
    while ($waiting.Count) {
        $runspace = Get-IdleRunspace
        if (-not $runspace) { return }
        $next = $waiting[0]
        $waiting.RemoveAt(0)
        $shell = [PowerShell]::Create()
        $shell.Runspace = $runspace
        [void] $shell.AddScript($hello.worker).AddArgument($shared).AddArgument($next.Id).AddArgument($next.Function).AddArgument($next.Arguments)
        $open[$next.Id] = @{ Shell = $shell; Handle = $shell.BeginInvoke(); Stopping = $false }
    }
}

function Start-Request($request) {
    $id = [string] $request.id
    $function = $operations[[string] $request.call]
    if (-not $function) {
        Write-Frame $id @{ kind = 'error'; phase = 'dispatch'; error = @{ message = 'There is no such operation'; id = 'UnknownOperation' } }
        return
    }
    $arguments = @{}
    foreach ($property in $request.arguments.PSObject.Properties) { $arguments[$property.Name] = ConvertTo-Argument $property.Value }
    [void] $waiting.Add(@{ Id = $id; Function = $function; Arguments = $arguments })
}

# Stops a call; one that waits is taken out of the line.
function Stop-Request([string] $id) {
    foreach ($one in @($waiting | Where-Object { $_.Id -eq $id })) {
        $waiting.Remove($one)
        Write-Frame $id @{ kind = 'stopped'; reason = '' }
    }
    $call = $open[$id]
    if (-not $call -or $call.Stopping) { return }
    $call.Stopping = $true
    [void] $call.Shell.BeginStop($null, $null)
}

# Forwards progress, and clears away what has ended. A call that ended without a reply was stopped.
function Update-Requests {
    foreach ($id in @($open.Keys)) {
        $call = $open[$id]
        $records = @($call.Shell.Streams.Progress.ReadAll())
        if ($records.Count -and -not $shared.Replied.ContainsKey($id)) {
            $record = $records[-1]
            Write-Frame $id @{ kind = 'progress'; activity = [string] $record.Activity; percent = [int] $record.PercentComplete }
        }
        if (-not $call.Handle.IsCompleted) { continue }
        if (-not $shared.Replied.ContainsKey($id)) {
            $reason = $call.Shell.InvocationStateInfo.Reason
            Write-Frame $id @{ kind = 'stopped'; reason = $(if ($reason) { $reason.Message } else { '' }) }
        }
        $shared.Replied.Remove($id)
        # The runspace is kept for the next call.
        $call.Shell.Dispose()
        $open.Remove($id)
    }
}

$operations = @{}
foreach ($property in $hello.operations.PSObject.Properties) { $operations[$property.Name] = $property.Value }
$open = @{}
$waiting = New-Object Collections.ArrayList
$runspaces = New-Object Collections.ArrayList
Write-Frame ([string] $hello.id) @{ kind = 'result'; value = @{ process = $PID; version = $PSVersionTable.PSVersion.ToString() } }

$line = $reader.ReadLineAsync()
while ($true) {
    if ($open.Count -eq 0 -and $waiting.Count -eq 0) { [void] $line.Wait() } else { [void] $line.Wait(30) }
    if ($line.IsCompleted) {
        $text = $line.Result
        # The end of our input: whoever started us has gone.
        if ($null -eq $text) { break }
        $line = $reader.ReadLineAsync()
        if ($text) {
            $request = ConvertFrom-Json -InputObject $text
            if ($request.PSObject.Properties['cancel']) {
                Stop-Request ([string] $request.cancel)
            }
            else { Start-Request $request }
        }
    }
    Update-Requests
    Start-Waiting
}
# What is tied to whoever started us ends with them.
if ($shared.Tied.Count) {
    $shell = [PowerShell]::Create()
    $idle = Get-IdleRunspace
    if ($idle) { $shell.Runspace = $idle }
    [void] $shell.AddScript('Remove-TiedMachines').Invoke()
}
[Environment]::Exit(0)
