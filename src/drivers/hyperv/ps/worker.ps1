# Runs operations in one of the runspaces, one after the other until nothing comes in the place of a call. The first one loads the
# library and the module before it says that it begins, so that loading is not counted as the operation's time.
param($shared, $calls)

while ($call = $calls.Take()) {
    $frameId = $call.Id
    $phase = 'load'
    try {
        if (-not $global:HvlabReady) {
            . ([scriptblock]::Create($shared.Library))
            Initialize-Runspace $shared
            $global:HvlabReady = $true
        }
        Write-Frame $shared $frameId '{"kind":"begin"}'
        $phase = 'run'
        $arguments = @{}
        if ($call.Arguments -ne '{}') { $arguments = ConvertTo-Arguments $call.Arguments }
        $value = & $call.Function @arguments
        $shared.Replied[$frameId] = $true
        Write-Frame $shared $frameId (ConvertTo-Json -InputObject @{ kind = 'result'; value = $value } -Depth 10 -Compress)
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
}
