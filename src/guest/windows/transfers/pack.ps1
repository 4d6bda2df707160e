# Writes a folder as a tar archive to its output; the last lines of its errors say how that ended and, where the guest can tell, the archive's
# SHA-256. Links are told as links and lead nowhere. Wish: folder.
function Write-Line([string] $text) {
    $bytes = [Text.Encoding]::UTF8.GetBytes("$text`n")
    $errors.Write($bytes, 0, $bytes.Length)
}
function Stop-Packing([string] $word, [string] $reason) {
    Write-Line $reason
    Write-Line "hv-failed $word"
    exit 1
}
$errors = [Console]::OpenStandardError()
trap {
    $cause = Get-Cause $_.Exception
    Stop-Packing (Get-Word $cause) $cause.Message
}
function Write-Padding([int64] $size) { if ($size % 512) { $archive.Write($zeros, 0, 512 - $size % 512) } }
function Write-Block([byte[]] $name, [string] $kind, [int64] $size, [int64] $modified, [string] $mode) {
    $header = New-Object byte[] 512
    [Array]::Copy($name, $header, [Math]::Min($name.Length, 100))
    $digits = [Convert]::ToString($size, 8).PadLeft(11, '0')
    if ($digits.Length -gt 11) { $digits = '0' * 11 }
    $modified = [Math]::Min([Math]::Max($modified, 0), 8589934591)
    $text = $mode.PadLeft(7, '0') + "`0" + '0000000' + "`0" + '0000000' + "`0" + $digits + "`0" + [Convert]::ToString($modified, 8).PadLeft(11, '0') + "`0        $kind"
    [void] [Text.Encoding]::ASCII.GetBytes($text, 0, $text.Length, $header, 100)
    [void] [Text.Encoding]::ASCII.GetBytes('ustar  ', 0, 7, $header, 257)
    if ($size -ge 8589934592) {
        $large = [BitConverter]::GetBytes($size)
        [Array]::Reverse($large)
        [Array]::Clear($header, 124, 12)
        $header[124] = 0x80
        [Array]::Copy($large, 0, $header, 128, 8)
    }
    $sum = [Convert]::ToString([Linq.Enumerable]::Sum([int[]] $header), 8).PadLeft(6, '0') + "`0 "
    [void] [Text.Encoding]::ASCII.GetBytes($sum, 0, 8, $header, 148)
    $archive.Write($header, 0, 512)
}
function Write-Header([string] $path, [string] $kind, [int64] $size, [DateTime] $time, [string] $mode) {
    $name = $utf8.GetBytes($path)
    if ($name.Length -gt 100) {
        Write-Block $utf8.GetBytes('././@LongLink') 'L' ($name.Length + 1) 0 '0'
        $archive.Write($name, 0, $name.Length)
        $archive.Write($zeros, 0, 1)
        Write-Padding ($name.Length + 1)
    }
    Write-Block $name $kind $size ([Math]::Floor(($time - $epoch).TotalSeconds)) $mode
}
function Write-File($item, [string] $path) {
    $file = [IO.File]::Open($item.FullName, 'Open', 'Read', 'ReadWrite, Delete')
    try {
        $size = $file.Length
        Write-Header $path '0' $size $item.LastWriteTimeUtc '644'
        for ($left = $size; $left -gt 0; $left -= $got) {
            $got = $file.Read($buffer, 0, [Math]::Min($left, $buffer.Length))
            if ($got -le 0) { Stop-Packing 'failed' "$path became shorter while it was read" }
            $archive.Write($buffer, 0, $got)
        }
    }
    finally { $file.Dispose() }
    Write-Padding $size
}
# What bears the mark of a link may be a file in other clothes, as deduplicated ones are; a folder with it leads elsewhere.
function Test-Link($item) {
    if (-not ($item.Attributes -band [IO.FileAttributes]::ReparsePoint)) { return $false }
    $item -is [IO.DirectoryInfo] -or (Get-Item -LiteralPath $item.FullName -Force).LinkType -eq 'SymbolicLink'
}
function Write-Folder($folder, [string] $within) {
    Write-Header "$within/" '5' 0 $folder.LastWriteTimeUtc '755'
    foreach ($item in $folder.GetFileSystemInfos()) {
        $path = "$within/$($item.Name)"
        if (Test-Link $item) { Write-Header $path '2' 0 $item.LastWriteTimeUtc '777' }
        elseif ($item -is [IO.DirectoryInfo]) { Write-Folder $item $path }
        else { Write-File $item $path }
    }
}
if ([IO.File]::Exists($wish.folder)) { Stop-Packing 'is_file' $wish.folder }
if (-not [IO.Directory]::Exists($wish.folder)) { Stop-Packing 'not_found' $wish.folder }
$zeros = New-Object byte[] 1024
$buffer = New-Object byte[] 262144
$output = [Console]::OpenStandardOutput()
$digest = $null
# A guest that allows only certified algorithms may refuse to make one.
try { $digest = [Security.Cryptography.SHA256]::Create() }
catch { $digest = $null }
$archive = New-Object IO.BufferedStream $output, 262144
if ($digest) {
    $summed = New-Object Security.Cryptography.CryptoStream $output, $digest, 'Write'
    $archive = New-Object IO.BufferedStream $summed, 262144
}
Write-Folder (New-Object IO.DirectoryInfo $wish.folder) '.'
$archive.Write($zeros, 0, 1024)
$archive.Flush()
if ($digest) {
    $summed.FlushFinalBlock()
    Write-Line ('hv-sha256 ' + [BitConverter]::ToString($digest.Hash).Replace('-', '').ToLowerInvariant())
}
