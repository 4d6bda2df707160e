# What every collector begins with. What is asked for comes in a variable as JSON; the answer goes out as JSON in base64, since the
# encoding of a console changes letters.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$wish = $env:HVLAB_WISH | ConvertFrom-Json
function Write-Answer($answer) {
    $json = ConvertTo-Json -InputObject $answer -Depth 6 -Compress
    [Console]::Out.Write([Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($json)))
}
function Format-Time($time) { if ($time) { ([datetime] $time).ToUniversalTime().ToString('o') } }
# A fact that cannot be had is named, and the others are still told.
$missing = New-Object Collections.ArrayList
function Read-Fact([string] $name, [scriptblock] $read) {
    try { & $read }
    catch { [void] $missing.Add($name) }
}
