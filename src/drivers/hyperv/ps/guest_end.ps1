# The guest's end of PowerShell Direct: Windows PowerShell 5.1 in the guest runs this once for each session. Each function answers
# with a text of JSON, so that nothing depends on how objects travel. Whoever starts a program or opens a file gives it the key that
# it is called by afterwards, and so can end what it has given up before it heard an answer.

$global:HvlabPrograms = @{}
$global:HvlabFiles = @{}
$global:HvlabEpoch = [DateTime]::SpecifyKind((New-Object DateTime 1970, 1, 1), 'Utc')

function global:Write-HvlabAnswer($answer) { ConvertTo-Json -InputObject $answer -Depth 5 -Compress }

# Windows calls a full disk 112 or 39, and PowerShell elsewhere 28.
function global:Write-HvlabFailure($exception) {
    for ($at = $exception; $at.InnerException; $at = $at.InnerException) { }
    $code = 'failed'
    if ($at -is [ComponentModel.Win32Exception]) {
        if (2, 3, 267 -contains $at.NativeErrorCode) { $code = 'not_found' }
        elseif (5, 13 -contains $at.NativeErrorCode) { $code = 'denied' }
    }
    elseif ($at -is [IO.FileNotFoundException] -or $at -is [IO.DirectoryNotFoundException] -or $at -is [Management.Automation.DriveNotFoundException]) { $code = 'not_found' }
    elseif ($at -is [UnauthorizedAccessException]) { $code = 'denied' }
    elseif ($at -is [IO.IOException] -and 112, 39, 28 -contains ($at.HResult -band 0xFFFF)) { $code = 'disk_full' }
    elseif ($at -is [IO.IOException] -and 32, 33, 11 -contains ($at.HResult -band 0xFFFF)) { $code = 'locked' }
    Write-HvlabAnswer @{ failure = $code; message = $at.Message }
}

# One argument as CommandLineToArgvW reads it back.
function global:ConvertTo-HvlabWord([string] $word) {
    if ($word -ne '' -and $word -notmatch '[\s"]') { return $word }
    $text = [regex]::Replace($word, '(\\*)"', '$1$1\"')
    '"' + [regex]::Replace($text, '(\\+)$', '$1$1') + '"'
}

function global:Get-HvlabIdentity([string] $nonce) {
    $key = 'HKLM:\SOFTWARE\Microsoft\Virtual Machine\Guest\Parameters'
    $id = ''
    try { $id = [string] (Get-ItemProperty -Path $key -ErrorAction Stop).VirtualMachineId }
    catch { $id = '' }
    Write-HvlabAnswer @{ nonce = $nonce; id = $id }
}

# Words: the key; how many the program and its arguments are, those; the folder; `feed` for a program that reads what is sent; then
# names and values of variables.
function global:Start-HvlabProgram([string[]] $words) {
    $key, $words = $words
    $words = @($words)
    try {
        $count = [int] $words[0]
        $argv = @($words[1..$count])
        $folder = $words[$count + 1]
        $start = New-Object Diagnostics.ProcessStartInfo
        $start.FileName = $argv[0]
        $start.Arguments = (@($argv | Select-Object -Skip 1) | ForEach-Object { ConvertTo-HvlabWord $_ }) -join ' '
        $start.UseShellExecute = $false
        $start.CreateNoWindow = $true
        $start.RedirectStandardInput = $true
        $start.RedirectStandardOutput = $true
        $start.RedirectStandardError = $true
        if ($folder -ne '') { $start.WorkingDirectory = $folder }
        for ($at = $count + 3; $at + 1 -lt $words.Count; $at += 2) { $start.EnvironmentVariables[$words[$at]] = $words[$at + 1] }
        $process = New-Object Diagnostics.Process
        $process.StartInfo = $start
        $global:HvlabPrograms[$key] = @{ Process = $process }
        [void] $process.Start()
        # The writer around this stream could put a mark of its encoding into it.
        $inlet = @{ Stream = $process.StandardInput.BaseStream; Task = $null; Flushing = $false }
        if ($words[$count + 2] -ne 'feed') { $inlet.Stream.Dispose() }
        $streams = @(foreach ($reader in $process.StandardOutput, $process.StandardError) {
            $buffer = New-Object byte[] 65536
            @{ Stream = $reader.BaseStream; Buffer = $buffer; Task = $reader.BaseStream.ReadAsync($buffer, 0, $buffer.Length) }
        })
        $global:HvlabPrograms[$key] = @{ Process = $process; Inlet = $inlet; Streams = $streams; EndedAt = $null }
        Write-HvlabAnswer @{ started = $true }
    }
    catch {
        $global:HvlabPrograms.Remove($key)
        Write-HvlabFailure $_.Exception
    }
}

# Sends some bytes to a program; without any it goes on with those that were not taken yet. Nobody waits long for a program that does
# not read. `closed` says that it never will.
function global:Send-HvlabInput([string] $key, [string] $base64, [int] $milliseconds) {
    $program = $global:HvlabPrograms[$key]
    if (-not $program) { return Write-HvlabAnswer @{ closed = $true } }
    $inlet = $program.Inlet
    try {
        if ($base64 -ne '') {
            $bytes = [Convert]::FromBase64String($base64)
            $inlet.Flushing = $false
            $inlet.Task = $inlet.Stream.WriteAsync($bytes, 0, $bytes.Length)
        }
        if ($inlet.Task.Wait($milliseconds) -and -not $inlet.Flushing) {
            $inlet.Flushing = $true
            $inlet.Task = $inlet.Stream.FlushAsync()
            [void] $inlet.Task.Wait($milliseconds)
        }
        Write-HvlabAnswer @{ taken = $inlet.Flushing -and $inlet.Task.IsCompleted }
    }
    catch { Write-HvlabAnswer @{ closed = $true } }
}

# The program has all that it reads.
function global:Close-HvlabInput([string] $key) {
    $program = $global:HvlabPrograms[$key]
    try { if ($program) { $program.Inlet.Stream.Dispose() } }
    catch [IO.IOException] { return Write-HvlabAnswer @{ closed = $true; message = $_.Exception.Message } }
    Write-HvlabAnswer @{ closed = $true }
}

# What has come on one stream, as base64, up to some hundred kilobytes.
function global:Read-HvlabStream($stream) {
    $bytes = New-Object IO.MemoryStream
    while ($stream.Task -and $stream.Task.IsCompleted -and $bytes.Length -lt 262144) {
        $count = 0
        if (-not $stream.Task.IsFaulted -and -not $stream.Task.IsCanceled) { $count = $stream.Task.Result }
        if ($count -le 0) {
            $stream.Task = $null
            break
        }
        $bytes.Write($stream.Buffer, 0, $count)
        $stream.Task = $stream.Stream.ReadAsync($stream.Buffer, 0, $stream.Buffer.Length)
    }
    [Convert]::ToBase64String($bytes.ToArray())
}

# Waits up to a moment for output or the end. Children that keep the streams open do not hold up the end.
function global:Read-HvlabProgram([string] $key, [int] $milliseconds) {
    $program = $global:HvlabPrograms[$key]
    if (-not $program) { return Write-HvlabAnswer @{ failure = 'gone'; message = 'There is no such program' } }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    do {
        $out = Read-HvlabStream $program.Streams[0]
        $err = Read-HvlabStream $program.Streams[1]
        $exited = $program.Process.HasExited
        if ($exited -and -not $program.EndedAt) { $program.EndedAt = [Diagnostics.Stopwatch]::StartNew() }
        $closed = -not $program.Streams[0].Task -and -not $program.Streams[1].Task
        $over = $exited -and ($closed -or $program.EndedAt.ElapsedMilliseconds -gt 500)
        if ($out -or $err -or $over) { break }
        Start-Sleep -Milliseconds 10
    } while ($watch.ElapsedMilliseconds -lt $milliseconds)
    $answer = @{ out = $out; err = $err; code = $null }
    if ($over -and -not $out -and -not $err) {
        $answer.code = $program.Process.ExitCode
        $global:HvlabPrograms.Remove($key)
        $program.Process.Dispose()
    }
    Write-HvlabAnswer $answer
}

function global:Stop-HvlabProgram([string] $key) {
    $program = $global:HvlabPrograms[$key]
    if (-not $program) { return Write-HvlabAnswer @{ ended = $true } }
    $global:HvlabPrograms.Remove($key)
    # One whose start was given up may not have begun.
    try { $null = $program.Process.Id }
    catch { return Write-HvlabAnswer @{ ended = $true } }
    if (-not $program.Process.HasExited) {
        try { & taskkill.exe /PID $program.Process.Id /T /F 2>&1 | Out-Null }
        catch { $program.Process.Kill() }
        [void] $program.Process.WaitForExit(5000)
    }
    Write-HvlabAnswer @{ ended = $program.Process.HasExited }
}

# The whole path of a file. What PowerShell finds elsewhere (`env:x`, `HKLM:\x`) would be a file of that name in some folder.
function global:Get-HvlabPath([string] $path) {
    $provider = $null
    $drive = $null
    $full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($path, [ref] $provider, [ref] $drive)
    if ($provider.Name -ne 'FileSystem') { throw (New-Object IO.DirectoryNotFoundException "`"$path`" is in no file system") }
    $full
}

# Writes under the passing name beside the file, which gets its own when it is whole.
function global:Open-HvlabWrite([string] $key, [string] $path, [string] $overwrite, [string] $passing) {
    try {
        $full = Get-HvlabPath $path
        if ([IO.Directory]::Exists($full)) { return Write-HvlabAnswer @{ failure = 'is_folder'; message = 'It is a folder' } }
        if ($overwrite -ne 'yes' -and [IO.File]::Exists($full)) { return Write-HvlabAnswer @{ failure = 'exists'; message = 'It is there already' } }
        $passing = Get-HvlabPath $passing
        [void] [IO.Directory]::CreateDirectory([IO.Path]::GetDirectoryName($full))
        $global:HvlabFiles[$key] = @{ Stream = [IO.File]::Open($passing, 'CreateNew', 'Write'); Passing = $passing; Path = $full; Overwrite = $overwrite -eq 'yes' }
        Write-HvlabAnswer @{ opened = $true }
    }
    catch { Write-HvlabFailure $_.Exception }
}

function global:Write-HvlabBytes([string] $key, [string] $base64) {
    try {
        $bytes = [Convert]::FromBase64String($base64)
        $global:HvlabFiles[$key].Stream.Write($bytes, 0, $bytes.Length)
        Write-HvlabAnswer @{ written = $bytes.Length }
    }
    catch { Write-HvlabFailure $_.Exception }
}

# A file that is kept gets its name when what lies on the guest's disk has the SHA-256 of what was sent.
function global:Close-HvlabFile([string] $key, [string] $keep, [string] $sha256) {
    $file = $global:HvlabFiles[$key]
    if (-not $file) { return Write-HvlabAnswer @{ closed = $true } }
    $global:HvlabFiles.Remove($key)
    try {
        $file.Stream.Dispose()
        if ($keep -eq 'yes' -and $file.Passing) {
            if ((Get-FileHash -LiteralPath $file.Passing -Algorithm SHA256 -ErrorAction Stop).Hash -ne $sha256) {
                [IO.File]::Delete($file.Passing)
                return Write-HvlabAnswer @{ failure = 'differs'; message = 'Its SHA-256 is another' }
            }
            if ($file.Overwrite -and [IO.File]::Exists($file.Path)) { [IO.File]::Replace($file.Passing, $file.Path, [NullString]::Value) }
            else { [IO.File]::Move($file.Passing, $file.Path) }
        }
        elseif ($file.Passing) { [IO.File]::Delete($file.Passing) }
        Write-HvlabAnswer @{ closed = $true }
    }
    catch {
        if ($file.Passing) { [IO.File]::Delete($file.Passing) }
        Write-HvlabFailure $_.Exception
    }
}

function global:Open-HvlabRead([string] $key, [string] $path) {
    try {
        $full = Get-HvlabPath $path
        if ([IO.Directory]::Exists($full)) { return Write-HvlabAnswer @{ failure = 'is_folder'; message = 'It is a folder' } }
        $global:HvlabFiles[$key] = @{ Stream = [IO.File]::Open($full, 'Open', 'Read', 'ReadWrite') }
        Write-HvlabAnswer @{ opened = $true }
    }
    catch { Write-HvlabFailure $_.Exception }
}

function global:Read-HvlabBytes([string] $key, [int] $limit) {
    try {
        $buffer = New-Object byte[] $limit
        $count = $global:HvlabFiles[$key].Stream.Read($buffer, 0, $limit)
        Write-HvlabAnswer @{ bytes = [Convert]::ToBase64String($buffer, 0, $count) }
    }
    catch { Write-HvlabFailure $_.Exception }
}

# A file that is not there counts as removed.
function global:Remove-HvlabFile([string] $path) {
    try {
        $full = Get-HvlabPath $path
        [IO.File]::Delete($full)
        Write-HvlabAnswer @{ removed = $true }
    }
    catch { Write-HvlabFailure $_.Exception }
}

# What a path is; times are milliseconds since 1970.
function global:Get-HvlabEntry([string] $path) {
    try {
        $full = Get-HvlabPath $path
        $item = New-Object IO.FileInfo $full
        $answer = @{ kind = 'missing' }
        if ([IO.Directory]::Exists($full)) { $answer.kind = 'folder' }
        elseif ($item.Exists) {
            $answer.kind = 'file'
            $answer.size_bytes = $item.Length
        }
        if ($answer.kind -ne 'missing') { $answer.modified_ms = [Math]::Floor(($item.LastWriteTimeUtc - $global:HvlabEpoch).TotalMilliseconds) }
        Write-HvlabAnswer $answer
    }
    catch { Write-HvlabFailure $_.Exception }
}

function global:Set-HvlabTime([string] $path, [string] $milliseconds) {
    try {
        $full = Get-HvlabPath $path
        [IO.File]::SetLastWriteTimeUtc($full, $global:HvlabEpoch.AddMilliseconds([double] $milliseconds))
        Write-HvlabAnswer @{ set = $true }
    }
    catch { Write-HvlabFailure $_.Exception }
}

# Whether a folder may be made, or gone into.
function global:Test-HvlabFolder([string] $path, [string] $overwrite) {
    if (-not [IO.Path]::IsPathRooted($path)) { return Write-HvlabAnswer @{ failure = 'relative'; message = $path } }
    if ([IO.File]::Exists($path)) { return Write-HvlabAnswer @{ failure = 'is_file'; message = $path } }
    if ($overwrite -ne 'yes' -and [IO.Directory]::Exists($path)) { return Write-HvlabAnswer @{ failure = 'exists'; message = $path } }
    Write-HvlabAnswer @{ free = $true }
}

# Takes away a file or folder of ours that has a passing name. One that is not there counts as removed.
function global:Remove-HvlabPassing([string] $path) {
    try {
        if ($path -notmatch '\.hvlab-[0-9a-f]{8}(\.[a-z0-9]+)?$') { return Write-HvlabAnswer @{ failure = 'denied'; message = 'It has no passing name' } }
        $full = Get-HvlabPath $path
        if ([IO.Directory]::Exists($full)) { [IO.Directory]::Delete($full, $true) }
        elseif ([IO.File]::Exists($full)) { [IO.File]::Delete($full) }
        Write-HvlabAnswer @{ removed = $true }
    }
    catch { Write-HvlabFailure $_.Exception }
}

function global:Get-HvlabTemporaryFolder { Write-HvlabAnswer @{ folder = [IO.Path]::GetTempPath().TrimEnd('\', '/') } }
