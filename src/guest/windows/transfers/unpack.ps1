# Unpacks a tar archive into a folder under a passing name, which then becomes the folder's, or into a folder that is there.
# Wish: folder, archive, passing.
trap {
    $cause = Get-Cause $_.Exception
    Stop-Work (Get-Word $cause) $cause.Message
}
function Get-Place([string] $path) {
    $parts = @($path.Split('/') | Where-Object { $_ -ne '' -and $_ -ne '.' })
    foreach ($part in $parts) {
        if ($part -eq '..' -or $part -match '[\x00-\x1F<>:"|?*\\]' -or $part -match '[ .]$' -or $part -match '^(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|COM[0-9]|LPT[0-9])\s*(\.|$)') {
            Stop-Work 'name' $path
        }
    }
    (@($wish.passing) + $parts) -join [IO.Path]::DirectorySeparatorChar
}
function Read-Bytes([int64] $count) {
    $bytes = New-Object byte[] $count
    for ($at = 0; $at -lt $count; $at += $got) {
        $got = $archive.Read($bytes, $at, $count - $at)
        if ($got -le 0) { throw (New-Object IO.EndOfStreamException 'The archive ends before its end') }
    }
    , $bytes
}
function Read-Number([byte[]] $header, [int] $at, [int] $length) {
    $value = [int64] 0
    if ($header[$at] -band 0x80) { foreach ($byte in $header[($at + 4)..($at + $length - 1)]) { $value = $value * 256 + $byte } }
    else {
        $text = [Text.Encoding]::ASCII.GetString($header, $at, $length).Trim([char] 0, ' ')
        if ($text -ne '') { $value = [Convert]::ToInt64($text, 8) }
    }
    $value
}
function Read-Name([byte[]] $bytes, [int] $limit) {
    $end = [Array]::IndexOf($bytes, [byte] 0, 0, $limit)
    if ($end -lt 0) { $end = $limit }
    $utf8.GetString($bytes, 0, $end)
}
function Skip-Padding([int64] $size) { if ($size % 512) { [void] (Read-Bytes (512 - $size % 512)) } }
function Copy-Content([string] $place, [int64] $size) {
    $file = [IO.File]::Open($place, 'CreateNew', 'Write')
    try {
        for ($left = $size; $left -gt 0; $left -= $got) {
            $got = $archive.Read($buffer, 0, [Math]::Min($left, $buffer.Length))
            if ($got -le 0) { throw (New-Object IO.EndOfStreamException 'The archive ends before its end') }
            $file.Write($buffer, 0, $got)
        }
    }
    finally { $file.Dispose() }
    Skip-Padding $size
}
# A folder's time is set last: writing into it changes it.
function Expand-Archive {
    $times = New-Object Collections.ArrayList
    $name = $null
    while ($true) {
        $header = Read-Bytes 512
        if ($header[0] -eq 0) { break }
        $size = Read-Number $header 124 12
        $kind = [char] $header[156]
        if ($kind -ceq 'L') {
            $name = Read-Name (Read-Bytes $size) $size
            Skip-Padding $size
            continue
        }
        if ($null -eq $name) { $name = Read-Name $header 100 }
        $place = Get-Place $name
        $name = $null
        $time = $epoch.AddSeconds((Read-Number $header 136 12))
        if ($kind -eq '5') {
            [void] [IO.Directory]::CreateDirectory($place)
            [void] $times.Insert(0, @($place, $time))
        }
        elseif ($kind -eq '0') {
            Copy-Content $place $size
            [IO.File]::SetLastWriteTimeUtc($place, $time)
        }
        else { Stop-Work 'failed' "The archive has an entry of the kind $kind" }
    }
    foreach ($one in $times) { [IO.Directory]::SetLastWriteTimeUtc($one[0], $one[1]) }
}
function Test-Merge([string] $from, [string] $to) {
    foreach ($one in (New-Object IO.DirectoryInfo $from).GetFileSystemInfos()) {
        $aim = [IO.Path]::Combine($to, $one.Name)
        $isFolder = $one -is [IO.DirectoryInfo]
        if (($isFolder -and [IO.File]::Exists($aim)) -or (-not $isFolder -and [IO.Directory]::Exists($aim))) { Stop-Work 'kind' $aim }
        if ($isFolder -and [IO.Directory]::Exists($aim)) { Test-Merge $one.FullName $aim }
    }
}
function Move-Merge([string] $from, [string] $to) {
    foreach ($one in (New-Object IO.DirectoryInfo $from).GetFileSystemInfos()) {
        $aim = [IO.Path]::Combine($to, $one.Name)
        if ([IO.Directory]::Exists($aim)) { Move-Merge $one.FullName $aim }
        else {
            if ([IO.File]::Exists($aim)) { [IO.File]::Delete($aim) }
            $one.MoveTo($aim)
        }
    }
    [IO.Directory]::SetLastWriteTimeUtc($to, [IO.Directory]::GetLastWriteTimeUtc($from))
}
$buffer = New-Object byte[] 262144
[void] [IO.Directory]::CreateDirectory($wish.passing)
$archive = [IO.File]::OpenRead($wish.archive)
try { Expand-Archive }
finally { $archive.Dispose() }
if ([IO.Directory]::Exists($wish.folder)) {
    Test-Merge $wish.passing $wish.folder
    Move-Merge $wish.passing $wish.folder
    [IO.Directory]::Delete($wish.passing, $true)
}
else { [IO.Directory]::Move($wish.passing, $wish.folder) }
Write-Answer @{ done = $true }
