# PowerShell Direct: one session for each VM and user, opened when first used and kept. Only the functions of guest_end.ps1 run in guests.

$script:GuestFunctions = @{
    start_program = 'Start-HvlabProgram'
    send_input = 'Send-HvlabInput'
    close_input = 'Close-HvlabInput'
    read_program = 'Read-HvlabProgram'
    stop_program = 'Stop-HvlabProgram'
    open_write = 'Open-HvlabWrite'
    write_bytes = 'Write-HvlabBytes'
    close_file = 'Close-HvlabFile'
    open_read = 'Open-HvlabRead'
    read_bytes = 'Read-HvlabBytes'
    identity = 'Get-HvlabIdentity'
    remove_file = 'Remove-HvlabFile'
    look_at = 'Get-HvlabEntry'
    set_time = 'Set-HvlabTime'
    check_folder = 'Test-HvlabFolder'
    remove_passing = 'Remove-HvlabPassing'
    temporary_folder = 'Get-HvlabTemporaryFolder'
}

# Calls to one guest go one after another; waiting for the turn can be stopped.
function Use-GuestTurn([string] $vm, [scriptblock] $work) {
    $turns = $global:HvlabShared.Turns
    if (-not $turns.ContainsKey($vm)) {
        [Threading.Monitor]::Enter($turns.SyncRoot)
        try { if (-not $turns.ContainsKey($vm)) { $turns[$vm] = New-Object object } }
        finally { [Threading.Monitor]::Exit($turns.SyncRoot) }
    }
    while (-not [Threading.Monitor]::TryEnter($turns[$vm])) { Start-Sleep -Milliseconds 10 }
    try { & $work }
    finally { [Threading.Monitor]::Exit($turns[$vm]) }
}

function Get-GuestCredential([string] $user, [string] $password) {
    $secret = New-Object Security.SecureString
    foreach ($one in $password.ToCharArray()) { $secret.AppendChar($one) }
    New-Object Management.Automation.PSCredential $user, $secret
}

function Stop-GuestFailure($record, [string] $vm) {
    $id = ([string] $record.FullyQualifiedErrorId).Split(',')[0]
    $types = @(for ($at = $record.Exception; $at; $at = $at.InnerException) { $at.GetType().Name })
    if ($types -contains 'PSDirectException') { Stop-Operation 'hv.guest_auth' 'The guest refuses the user or the password' 'Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD to an account of the guest' @{ vm = "vm-$vm" } }
    if ($id -like 'InvalidVMId*') { Assert-Sight }
    if ($id -like 'InvalidVM*') { Stop-Operation 'hv.conflict' 'The VM does not run' "Start it with ``hvlab vm start vm-$vm``" @{ vm = "vm-$vm"; wanted = 'running'; provider_id = $id } }
    Stop-Operation 'hv.guest_not_ready' 'The guest does not answer PowerShell Direct yet' 'Wait for the guest to boot; PowerShell Direct needs Windows 10 or Server 2016 and later in it' @{ vm = "vm-$vm"; provider_id = $id }
}

# The password stands in a variable of our environment, or came with the request, which asks again with it when a session has to be
# opened.
function Open-GuestSession([string] $vm, [string] $user, [string] $password_variable, [string] $password) {
    $sessions = $global:HvlabShared.Sessions
    $known = $sessions["$vm $user"]
    if ($known -and [string] $known.State -eq 'Opened') { return $known }
    $sessions.Remove("$vm $user")
    if ($password_variable) { $password = [Environment]::GetEnvironmentVariable($password_variable) }
    elseif (-not $password) { Stop-Operation 'hv.guest_auth' 'The session wants a password' 'Report this' @{ vm = "vm-$vm"; wanted = 'password' } }
    if (-not $password) {
        Stop-Operation 'hv.guest_auth' "There is no password for the guest in `"$password_variable`"" 'Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD' @{ vm = "vm-$vm" }
    }
    $server = Get-Server
    # The inner Get-VM of New-PSSession wants the server's name as well where Get-VM does.
    if ($server.Count) { $global:PSDefaultParameterValues = @{ 'Get-VM:ComputerName' = $server.ComputerName } }
    $session = $null
    try { $session = New-PSSession -VMId ([Guid] $vm) -Credential (Get-GuestCredential $user $password) -ErrorAction Stop }
    catch { Stop-GuestFailure $_ $vm }
    # Nothing runs in a guest before it has shown that it is the one that is meant.
    $nonce = [Guid]::NewGuid().ToString()
    $identity = $null
    try {
        Invoke-Command -Session $session -ScriptBlock { . ([scriptblock]::Create($args[0])) } -ArgumentList $global:HvlabShared.GuestEnd -ErrorAction Stop
        $identity = ConvertFrom-Json -InputObject (Invoke-Command -Session $session -ScriptBlock { Get-HvlabIdentity $args[0] } -ArgumentList $nonce -ErrorAction Stop)
    }
    catch { Stop-GuestFailure $_ $vm }
    if ($identity.nonce -ne $nonce -or ($identity.id -and $identity.id -ne $vm)) {
        Remove-PSSession -Session $session
        Stop-Operation 'hv.guest_identity' 'Another machine answered' "Look at the VM with ``hvlab vm get vm-$vm``" @{ vm = "vm-$vm"; found = [string] $identity.id }
    }
    $sessions["$vm $user"] = $session
    $session
}

# Runs one of the guest's functions and gives its answer, a text of JSON.
function Invoke-Guest([string] $vm, [string] $user, [string] $password_variable, [string] $password, [string] $call, [string[]] $words) {
    $function = $script:GuestFunctions[$call]
    if (-not $function) { Stop-Operation 'hv.internal' "There is no guest function `"$call`"" 'Report this' @{} }
    Use-GuestTurn $vm {
        $session = Open-GuestSession $vm $user $password_variable $password
        $arguments = @($function, ($call -eq 'start_program'), $words)
        try {
            $answer = Invoke-Command -Session $session -ArgumentList $arguments -ErrorAction Stop -ScriptBlock {
                param($function, $asList, $words)
                if ($asList) { & $function ([string[]] @($words)) } else { $list = @($words); & $function @list }
            }
            @{ answer = [string] $answer }
        }
        catch {
            $global:HvlabShared.Sessions.Remove("$vm $user")
            Stop-Operation 'hv.outcome_unknown' 'The session with the guest broke' 'Look at the guest before doing anything again' @{ vm = "vm-$vm"; reason = ([string] $_.Exception.Message).Split("`n")[0] }
        }
    }
}
