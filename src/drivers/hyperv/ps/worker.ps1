# Runs one operation in one of the runspaces. The first one in a runspace loads the library and the module before it says
# that it begins, so that loading is not counted as the operation's time.
param($shared, [string] $id, [string] $function, [hashtable] $arguments)

$frameId = $id
$phase = 'load'
try {
    if (-not $global:HvlabReady) {
        . ([scriptblock]::Create($shared.Library))
        Initialize-Runspace $shared
        $global:HvlabReady = $true
    }
    Write-Frame $shared $frameId @{ kind = 'begin' }
    $phase = 'run'
    $value = & $function @arguments
    $shared.Replied[$frameId] = $true
    Write-Frame $shared $frameId @{ kind = 'result'; value = $value }
}
catch {
    $record = $_
    $facts = @{ message = [string] $record.Exception.Message; id = [string] $record.FullyQualifiedErrorId }
    if ($phase -eq 'run') {
        $facts = Get-FailureFacts $record
        $cause = Get-FailureCause $record
        if ($cause) { $facts.ours = $cause }
    }
    $text = "`n#hvlab $frameId " + (ConvertTo-Json -InputObject @{ kind = 'error'; phase = $phase; error = $facts } -Depth 10 -Compress) + "`n"
    $bytes = [Text.Encoding]::UTF8.GetBytes($text)
    $shared.Replied[$frameId] = $true
    $shared.Output.Write($bytes, 0, $bytes.Length)
    $shared.Output.Flush()
}
