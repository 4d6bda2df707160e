# The loop of the sidecar. A request is a line: its id, what it calls, the arguments as JSON. An id alone stops that request. Each
# runs in a runspace of its own time and answers with frames: a line that begins with the mark and the request's id. Whatever else
# stands on standard output is not ours.
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

# Lets a worker wait for calls. Its pipeline stays open between them: to begin one takes as long as a whole small call.
function Start-Worker($worker) {
    $worker.Calls = New-Object 'System.Collections.Concurrent.BlockingCollection[object]'
    $worker.Stopping = $false
    $worker.Shell = [PowerShell]::Create()
    $worker.Shell.Runspace = $worker.Runspace
    [void] $worker.Shell.AddScript($hello.worker).AddArgument($shared).AddArgument($worker.Calls)
    $worker.Handle = $worker.Shell.BeginInvoke()
}

# A worker without a call; one that was stopped waits again in the runspace that it had. Nothing when all are busy and there may
# be no more.
function Get-IdleWorker {
    foreach ($worker in $workers) {
        if ($worker.Call) { continue }
        if ($worker.Shell) { return $worker }
        $runspace = $worker.Runspace
        for ($look = 0; $look -lt 100 -and [string] $runspace.RunspaceAvailability -ne 'Available'; $look++) { Start-Sleep -Milliseconds 1 }
        if ([string] $runspace.RunspaceAvailability -ne 'Available') { continue }
        Start-Worker $worker
        return $worker
    }
    if ($workers.Count -ge [int] $hello.workers) { return }
    $new = @{ Runspace = [Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace(); Call = '' }
    $new.Runspace.Open()
    Start-Worker $new
    [void] $workers.Add($new)
    $new
}

# Gives what waits to workers, oldest first.
function Start-Waiting {
    while ($waiting.Count) {
        $worker = Get-IdleWorker
        if (-not $worker) { return }
        $next = $waiting[0]
        $waiting.RemoveAt(0)
        $worker.Shell.Streams.ClearStreams()
        $worker.Call = $next.Id
        [void] $busy.Add($worker)
        $worker.Calls.Add($next)
    }
}

# Stops a call; one that waits is taken out of the line.
function Stop-Request([string] $id) {
    foreach ($one in @($waiting | Where-Object { $_.Id -eq $id })) {
        $waiting.Remove($one)
        Write-Frame $id @{ kind = 'stopped'; reason = '' }
    }
    foreach ($worker in $busy) {
        if ($worker.Call -ne $id -or $worker.Stopping -or $shared.Replied.ContainsKey($id)) { continue }
        $worker.Stopping = $true
        [void] $worker.Shell.BeginStop($null, $null)
        # Should it have replied just now, this ends its wait.
        $worker.Calls.Add($null)
    }
}

# Forwards progress, and frees the workers whose call has ended. A call that ended without a reply was stopped.
function Update-Requests {
    foreach ($worker in @($busy)) {
        $id = $worker.Call
        $hasEnded = $worker.Handle.IsCompleted
        $hasReplied = $shared.Replied.ContainsKey($id)
        if (-not $hasReplied -and $worker.Shell.Streams.Progress.Count) {
            $record = @($worker.Shell.Streams.Progress.ReadAll())[-1]
            Write-Frame $id @{ kind = 'progress'; activity = [string] $record.Activity; percent = [int] $record.PercentComplete }
        }
        if ($hasEnded) {
            if (-not $hasReplied) {
                $reason = $worker.Shell.InvocationStateInfo.Reason
                Write-Frame $id @{ kind = 'stopped'; reason = $(if ($reason) { $reason.Message } else { '' }) }
            }
            # The runspace is kept for the next call.
            $worker.Shell.Dispose()
            $worker.Shell = $null
        }
        elseif (-not $hasReplied -or $worker.Stopping) { continue }
        $shared.Replied.Remove($id)
        $worker.Call = ''
        $busy.Remove($worker)
    }
}

$operations = @{}
foreach ($property in $hello.operations.PSObject.Properties) { $operations[$property.Name] = $property.Value }
$waiting = New-Object Collections.ArrayList
$workers = New-Object Collections.ArrayList
$busy = New-Object Collections.ArrayList
$space = [char[]] ' '
Write-Frame ([string] $hello.id) @{ kind = 'result'; value = @{ process = $PID; version = $PSVersionTable.PSVersion.ToString() } }

$line = $reader.ReadLineAsync()
while ($true) {
    if ($waiting.Count -or $busy.Count) { [void] $line.Wait(30) } else { [void] $line.Wait() }
    if ($line.IsCompleted) {
        $text = $line.Result
        # The end of our input: whoever started us has gone.
        if ($null -eq $text) { break }
        $line = $reader.ReadLineAsync()
        $id, $call, $json = $text.Split($space, 3)
        $function = $operations[[string] $call]
        if ($function) { [void] $waiting.Add(@{ Id = $id; Function = $function; Arguments = $json }) }
        elseif ($call) { Write-Frame $id @{ kind = 'error'; phase = 'dispatch'; error = @{ message = 'There is no such operation'; id = 'UnknownOperation' } } }
        elseif ($id) { Stop-Request $id }
    }
    if ($busy.Count) { Update-Requests }
    if ($waiting.Count) { Start-Waiting }
}
# What is tied to whoever started us ends with them. A worker does it that has loaded the module, best one without a call: the other
# calls are of no use to anybody any more.
if ($shared.Tied.Count) {
    $worker = @(@($workers | Where-Object { -not $_.Call }) + $workers)[0]
    if ($worker.Shell) {
        if ($worker.Call) { [void] $worker.Shell.BeginStop($null, $null) }
        $worker.Calls.Add($null)
        [void] $worker.Handle.AsyncWaitHandle.WaitOne(10000)
    }
    for ($look = 0; $look -lt 1000 -and [string] $worker.Runspace.RunspaceAvailability -ne 'Available'; $look++) { Start-Sleep -Milliseconds 1 }
    $shell = [PowerShell]::Create()
    $shell.Runspace = $worker.Runspace
    [void] $shell.AddScript('Remove-TiedMachines').Invoke()
}
[Environment]::Exit(0)
