# What the operations share. PowerShell 5.1 only: no ternary, no ??, no -AsHashtable.

# Says something of a request, given as JSON.
function Write-Frame($shared, [string] $id, [string] $json) {
    $bytes = [Text.Encoding]::UTF8.GetBytes("`n#hvlab $id $json`n")
    $shared.Output.Write($bytes, 0, $bytes.Length)
    $shared.Output.Flush()
}

# Texts come with a mark before them: without it ConvertFrom-Json would make dates of those that look like one.
function ConvertTo-Argument($value) {
    if ($value -is [string]) { return $value.Substring(1) }
    if ($value -is [array]) { return , @($value | ForEach-Object { ConvertTo-Argument $_ }) }
    $value
}

# A request's arguments by name, to be splatted.
function ConvertTo-Arguments([string] $json) {
    $arguments = @{}
    foreach ($property in (ConvertFrom-Json -InputObject $json).PSObject.Properties) { $arguments[$property.Name] = ConvertTo-Argument $property.Value }
    $arguments
}

# Sets the variables that a console has and that programs started by a desktop client lack. Without them Get-VM was seen to fail
# for want of a server's name. Gives the names of those that were missing.
function Restore-Environment {
    $wanted = [ordered] @{
        COMPUTERNAME = [Environment]::MachineName.ToUpperInvariant()
        ProgramData = [Environment]::GetFolderPath('CommonApplicationData')
        ALLUSERSPROFILE = [Environment]::GetFolderPath('CommonApplicationData')
        windir = [Environment]::GetEnvironmentVariable('SystemRoot')
        ProgramFiles = [Environment]::GetFolderPath('ProgramFiles')
        'ProgramFiles(x86)' = [Environment]::GetFolderPath('ProgramFilesX86')
        CommonProgramFiles = [Environment]::GetFolderPath('CommonProgramFiles')
        PUBLIC = [Environment]::GetEnvironmentVariable('PUBLIC', 'Machine')
    }
    foreach ($name in $wanted.Keys) {
        if ([Environment]::GetEnvironmentVariable($name) -or -not $wanted[$name]) { continue }
        [Environment]::SetEnvironmentVariable($name, $wanted[$name])
        $name
    }
}

function Initialize-Runspace($shared) {
    $global:HvlabShared = $shared
    $global:ErrorActionPreference = 'Stop'
    $global:ConfirmPreference = 'None'
    $global:ProgressPreference = 'Continue'
    [Threading.Monitor]::Enter($shared.SyncRoot)
    try {
        if (-not $shared.Imported) {
            $shared.Restored = @(Restore-Environment)
            if ($shared.Modules) { $env:PSModulePath = $shared.Modules + [IO.Path]::PathSeparator + $env:PSModulePath }
        }
    }
    finally { [Threading.Monitor]::Exit($shared.SyncRoot) }
    $watch = [Diagnostics.Stopwatch]::StartNew()
    Import-Module -Name Hyper-V -Global -ErrorAction Stop 3> $null 4> $null 6> $null
    if (-not $shared.Imported) { $shared.Imported = [int] $watch.ElapsedMilliseconds + 1 }
}

# Parameters of every cmdlet that looks something up by name or id: the server, where the host needs one to be named.
function Get-Server { $global:HvlabShared.Server.Clone() }

# A member that only newer builds have; $null without it.
function Get-OptionalValue($object, [string] $name) {
    $property = $object.PSObject.Properties[$name]
    if ($property) { $property.Value }
}

# Fails with a code of ours. The loop hands code, hint and facts on as they are.
function Stop-Operation([string] $code, [string] $message, [string] $hint, [hashtable] $facts) {
    $exception = New-Object System.InvalidOperationException $message
    $exception.Data['hvlab'] = @{ code = $code; hint = $hint; facts = $facts }
    throw $exception
}

# Everything about an error record that tells errors apart. Messages are localised and only shown.
function Get-FailureFacts($record) {
    $types = @()
    $results = @()
    $ours = $null
    $applied = $null
    for ($exception = $record.Exception; $exception; $exception = $exception.InnerException) {
        $types += $exception.GetType().FullName
        $results += '0x{0:X8}' -f $exception.HResult
        if ($exception.Data -and $exception.Data.Contains('hvlab')) { $ours = $exception.Data['hvlab'] }
        # What a change of several steps had done by then.
        if ($exception.Data -and $exception.Data.Contains('applied')) { $applied = $exception.Data['applied'] }
    }
    $facts = @{
        message = [string] $record.Exception.Message
        id = [string] $record.FullyQualifiedErrorId
        category = [string] $record.CategoryInfo.Category
        activity = [string] $record.CategoryInfo.Activity
        target = [string] $record.CategoryInfo.TargetName
        types = $types
        results = $results
        place = [string] $record.ScriptStackTrace
    }
    if ($ours) { $facts.ours = $ours }
    if ($null -ne $applied) { $facts.applied = $applied }
    $facts
}

# Whether this build's cmdlet has a parameter that came later than Windows Server 2016.
function Test-Parameter([string] $command, [string] $parameter) {
    (Get-Command -Name $command -Module Hyper-V).Parameters.ContainsKey($parameter)
}

# Whether this build has a cmdlet that came later than Windows Server 2016.
function Test-Cmdlet([string] $command) { [bool] (Get-Command -Name $command -Module Hyper-V -ErrorAction SilentlyContinue) }

# True when the record says that an object is not there: gone, or hidden from this caller.
function Test-NotFound($record) {
    $id = ([string] $record.FullyQualifiedErrorId).Split(',')[0]
    $id -eq 'ObjectNotFound' -or [string] $record.CategoryInfo.Category -eq 'ObjectNotFound'
}

function ConvertTo-Moment($date) {
    if ($date) { ([DateTime] $date).ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ss.fffZ', [Globalization.CultureInfo]::InvariantCulture) }
}
