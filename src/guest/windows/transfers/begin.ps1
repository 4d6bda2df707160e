# What every script about files begins with. What is asked for comes in a variable as JSON. A failure is told as one word and the guest's own
# text.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$wish = $env:HVLAB_WISH | ConvertFrom-Json
$utf8 = New-Object Text.UTF8Encoding $false, $true
$epoch = [DateTime]::SpecifyKind((New-Object DateTime 1970, 1, 1), 'Utc')
function Write-Answer($answer) {
    $json = ConvertTo-Json -InputObject $answer -Depth 3 -Compress
    [Console]::Out.Write([Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($json)))
}
function Stop-Work([string] $word, [string] $reason) {
    Write-Answer @{ failure = $word; message = $reason }
    exit 0
}
function Get-Cause($exception) {
    for ($at = $exception; $at.InnerException; $at = $at.InnerException) { }
    $at
}
# Windows calls a full disk 112 or 39, and PowerShell elsewhere 28.
function Get-Word($cause) {
    if ($cause -is [IO.FileNotFoundException] -or $cause -is [IO.DirectoryNotFoundException]) { 'not_found' }
    elseif ($cause -is [UnauthorizedAccessException]) { 'denied' }
    elseif ($cause -is [IO.IOException] -and 112, 39, 28 -contains ($cause.HResult -band 0xFFFF)) { 'disk_full' }
    else { 'failed' }
}
