$path = 'Registry::' + [string] $wish.path
$key = $null
try { $key = Get-Item -LiteralPath $path }
catch {
    for ($at = $_.Exception; $at.InnerException; $at = $at.InnerException) { }
    $denied = $at -is [Security.SecurityException] -or $at -is [UnauthorizedAccessException]
    Write-Answer @{ failure = $(if ($denied) { 'denied' } else { 'missing' }); message = [string] $at.Message }
    exit 0
}
$most = [int] $wish.limit
$names = @($key.GetValueNames() | Where-Object { -not $wish.name -or $_ -eq $wish.name } | Sort-Object)
$values = @(foreach ($name in ($names | Select-Object -First $most)) {
    $value = $key.GetValue($name, $null, 'DoNotExpandEnvironmentNames')
    $kind = [string] $key.GetValueKind($name)
    if ($value -is [byte[]]) {
        $kept = [Math]::Min($value.Length, [int] $wish.bytes)
        @{ name = $name; kind = $kind; base64 = [Convert]::ToBase64String($value, 0, $kept); dropped = $value.Length - $kept }
    }
    elseif ($value -is [string[]]) { @{ name = $name; kind = $kind; list = @($value) } }
    elseif ($null -eq $value) { @{ name = $name; kind = $kind; base64 = ''; dropped = 0 } }
    # Windows keeps numbers without a sign, and PowerShell shows them with one.
    elseif ($value -is [int]) { @{ name = $name; kind = $kind; text = [string] [BitConverter]::ToUInt32([BitConverter]::GetBytes($value), 0) } }
    elseif ($value -is [long]) { @{ name = $name; kind = $kind; text = [string] [BitConverter]::ToUInt64([BitConverter]::GetBytes($value), 0) } }
    else {
        $text = [string] $value
        $kept = [Math]::Min($text.Length, [int] $wish.bytes)
        @{ name = $name; kind = $kind; text = $text.Substring(0, $kept); dropped = 2 * ($text.Length - $kept) }
    }
})
$keys = @($key.GetSubKeyNames() | Sort-Object)
Write-Answer @{
    path = [string] $key.Name
    keys = @($keys | Select-Object -First $most)
    values = $values
    more = $keys.Count -gt $most -or $names.Count -gt $most
    value_missing = [bool] $wish.name -and $names.Count -eq 0
}
