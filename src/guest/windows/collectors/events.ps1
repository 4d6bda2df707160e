# The newest events of the two logs that every Windows has, or of all logs of the provider that is asked for.
$filter = @{}
if ($wish.source) { $filter.ProviderName = [string] $wish.source } else { $filter.LogName = 'System', 'Application' }
if ($wish.since_s) { $filter.StartTime = (Get-Date).AddSeconds(-[double] $wish.since_s) }
# 0 stands for an event that is always logged, which is shown as information.
$filter.Level = @($wish.levels | ForEach-Object { [int] $_ })
$text = [string] $wish.text
$events = New-Object Collections.ArrayList
$seen = 0
$last = 0
try {
    # With a text the messages must be read, so that more events are taken; the pipeline ends at the wanted count.
    $most = if ($text) { [int] $wish.searched } else { [int] $wish.count }
    Get-WinEvent -FilterHashtable $filter -MaxEvents $most | ForEach-Object {
        $seen++
        $message = [string] $_.Message
        if ($events.Count -lt [int] $wish.count -and (-not $text -or $message.IndexOf($text, [StringComparison]::OrdinalIgnoreCase) -ge 0)) {
            [void] $events.Add(@{
                time = Format-Time $_.TimeCreated
                level = [int] $_.Level
                source = [string] $_.ProviderName
                message = $message.Substring(0, [Math]::Min($message.Length, 4000))
                cut = $message.Length -gt 4000
                pid = [string] $_.ProcessId
                id = [int] $_.Id
                log = [string] $_.LogName
            })
        }
    }
}
catch {
    # A search without a hit is an error to Get-WinEvent; so is a provider that this Windows has not.
    if ([string] $_.FullyQualifiedErrorId -notlike 'NoMatchingEventsFound*') { throw }
}
Write-Answer @{ events = @($events); all_searched = (-not $text) -or $seen -lt [int] $wish.searched }
