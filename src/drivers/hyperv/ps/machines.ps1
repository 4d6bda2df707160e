# Machines: looking at them and their power.

# One machine as plain values; its members are live and may vanish while they are read.
function ConvertTo-MachineFacts($machine) {
    $statuses = @($machine.OperationalStatus | ForEach-Object { [int] $_ })
    $parent = Get-OptionalValue $machine 'ParentSnapshotId'
    @{
        id = ([string] $machine.Id).ToLowerInvariant()
        name = [string] $machine.Name
        state = [string] $machine.State
        state_number = [int] $machine.State
        status = [string] $machine.Status
        statuses = [object[]] $statuses
        heartbeat = [string] $machine.Heartbeat
        notes = [string] $machine.Notes
        generation = [int] $machine.Generation
        memory_startup = [string] $machine.MemoryStartup
        cpus = [int] $machine.ProcessorCount
        created = ConvertTo-Moment $machine.CreationTime
        version = [string] $machine.Version
        path = [string] $machine.Path
        checkpoint_type = [string] (Get-OptionalValue $machine 'CheckpointType')
        current_checkpoint = $(if ($parent) { ([string] $parent).ToLowerInvariant() } else { $null })
    }
}

# All machines. One whose storage is lost gives an error of its own and does not hide the others.
function Get-Machines {
    $server = Get-Server
    $failures = @()
    $found = @(Hyper-V\Get-VM -Name '*' @server -ErrorAction SilentlyContinue -ErrorVariable failures)
    if ($found.Count -eq 0) {
        Assert-Sight
        if ($failures.Count) { throw $failures[0] }
    }
    $warnings = @($failures | ForEach-Object { ([string] $_.Exception.Message).Split("`n")[0] })
    $facts = @(foreach ($machine in $found) {
        try { ConvertTo-MachineFacts $machine }
        catch { $warnings += 'A VM vanished while it was read: ' + $_.Exception.Message.Split("`n")[0] }
    })
    @{ machines = [object[]] $facts; warnings = [object[]] @($warnings) }
}

# The machine with an id, never with a name: names are not unique.
function Find-Machine([string] $vm) {
    $server = Get-Server
    try { return Hyper-V\Get-VM -Id ([Guid] $vm) @server -ErrorAction Stop }
    catch { if (-not (Test-NotFound $_)) { throw } }
    Assert-Sight
    Stop-Operation 'hv.not_found' "There is no VM `"vm-$vm`"" 'List the VMs with `hvlab vm list`' @{ vm = "vm-$vm" }
}

function Get-Machine([string] $vm) { @{ machine = ConvertTo-MachineFacts (Find-Machine $vm) } }

# What Hyper-V does with a machine beside running it, as operational status codes: checkpoints, merges, exports, moves.
function Test-Busy($machine) {
    @($machine.OperationalStatus | Where-Object { $code = [int] $_; $code -eq 23769 -or ($code -ge 32768 -and $code -le 32781) }).Count -gt 0
}

# The percentage of the machine's running job; -1 where it cannot be seen.
function Get-JobPercent([string] $vm) {
    try {
        $system = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ComputerSystem -Filter ("Name='" + $vm.ToUpperInvariant() + "'") -ErrorAction Stop)
        if (-not $system.Count) { return -1 }
        $jobs = @(Get-CimAssociatedInstance -InputObject $system[0] -ResultClassName Msvm_ConcreteJob -ErrorAction Stop | Where-Object { [int] $_.JobState -eq 4 })
        if ($jobs.Count) { return [int] $jobs[-1].PercentComplete }
    }
    catch { Write-Verbose $_.Exception.Message }
    -1
}

# Waits until Hyper-V has done with the machine's disks, and shows how far it is.
function Wait-Idle([string] $vm) {
    $machine = Find-Machine $vm
    while (Test-Busy $machine) {
        $activity = $(if (@($machine.OperationalStatus | ForEach-Object { [int] $_ }) -contains 32772) { 'merging disks' } else { [string] $machine.Status })
        Write-Progress -Activity $activity -Status ' ' -PercentComplete (Get-JobPercent $vm)
        Start-Sleep -Milliseconds 200
        $machine = Find-Machine $vm
    }
    $machine
}

# Waits until the machine is in none of the states that it leaves by itself.
function Wait-Settled([string] $vm) {
    $passing = 'Starting', 'Stopping', 'Saving', 'Pausing', 'Resuming', 'Reset', 'FastSaving'
    $machine = Find-Machine $vm
    while ($passing -contains [string] $machine.State) {
        Start-Sleep -Milliseconds 100
        $machine = Find-Machine $vm
    }
    $machine
}

# Makes a change and looks at what came of it. The state decides: an error whose effect is there is none (a job can vanish before
# it is read), and a success without effect is a failure.
function Invoke-StateChange([string] $vm, [string[]] $wanted, [scriptblock] $change) {
    $failure = $null
    try { & $change }
    catch { $failure = $_ }
    $machine = Wait-Settled $vm
    if ($wanted -contains [string] $machine.State) { return @{ machine = ConvertTo-MachineFacts $machine } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' "Hyper-V reported success, but the VM is $($machine.State)" "Look at the VM with ``hvlab vm get vm-$vm``" @{ wanted = $wanted -join ' or '; found = [string] $machine.State }
}

function Stop-WrongState([string] $vm, [string] $found, [string] $wanted, [string] $hint) {
    Stop-Operation 'hv.conflict' "The VM is $($found): wanted $wanted" $hint @{ vm = "vm-$vm"; wanted = $wanted; found = $found.ToLowerInvariant() }
}

# What makes a machine run that does not: one that is paused is not started.
function Get-WakingHint([string] $vm, [string] $state) {
    if ('Paused', 'PausedCritical' -contains $state) { return "Let it go on with ``hvlab vm resume vm-$vm``" }
    "Start it with ``hvlab vm start vm-$vm``"
}

function Start-Machine([string] $vm) {
    $machine = Find-Machine $vm
    switch ([string] $machine.State) {
        'Running' { return @{ machine = ConvertTo-MachineFacts $machine } }
        'Paused' { Stop-WrongState $vm 'paused' 'off' (Get-WakingHint $vm 'Paused') }
        { $_ -in 'Starting', 'Resuming', 'Reset' } { Stop-WrongState $vm 'starting' 'off' "Another call starts it; wait with ``hvlab vm wait vm-$vm``" }
    }
    $machine = Wait-Idle $vm
    Invoke-StateChange $vm 'Running' { Hyper-V\Start-VM -VM $machine -ErrorAction Stop 3> $null }
}

# Asks the guest to shut down and returns at once. The component is there only while the guest can be asked, so nothing is ever
# cut off and nobody is prompted.
function Request-Shutdown([string] $vm) {
    $machine = Find-Machine $vm
    $state = [string] $machine.State
    if ($state -eq 'Off') { return @{ asked = $false } }
    if ($state -eq 'Stopping') { return @{ asked = $true } }
    if ($state -ne 'Running') { Stop-WrongState $vm $state.ToLowerInvariant() 'running' "Resume or start it first, or cut its power: ``hvlab vm stop vm-$vm --mode off``" }
    $component = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ShutdownComponent -Filter ("SystemName='" + $vm.ToUpperInvariant() + "'") -ErrorAction Stop)
    $answer = $null
    if ($component.Count) { $answer = [long] (Invoke-CimMethod -InputObject $component[0] -MethodName InitiateShutdown -Arguments @{ Force = $false; Reason = 'hvlab' } -ErrorAction Stop).ReturnValue }
    @{ asked = $answer -eq 0 -or $answer -eq 4096; code = $answer }
}

function Stop-Machine([string] $vm, [string] $mode) {
    $machine = Find-Machine $vm
    $state = [string] $machine.State
    if ($state -eq 'Off') { return @{ machine = ConvertTo-MachineFacts $machine } }
    if ($mode -eq 'save') {
        if ($state -eq 'Saved') { return @{ machine = ConvertTo-MachineFacts $machine } }
        if ('Running', 'Paused' -notcontains $state) { Stop-WrongState $vm $state.ToLowerInvariant() 'running' (Get-WakingHint $vm $state) }
        return Invoke-StateChange $vm 'Saved' { Hyper-V\Save-VM -VM $machine -ErrorAction Stop 3> $null }
    }
    if ($state -eq 'Saved') { return Invoke-StateChange $vm 'Off' { Hyper-V\Remove-VMSavedState -VM $machine -ErrorAction Stop } }
    Invoke-StateChange $vm 'Off' { Hyper-V\Stop-VM -VM $machine -TurnOff -Force -ErrorAction Stop 3> $null }
}

function Suspend-Machine([string] $vm) {
    $machine = Find-Machine $vm
    $state = [string] $machine.State
    if ($state -eq 'Paused') { return @{ machine = ConvertTo-MachineFacts $machine } }
    if ($state -ne 'Running') { Stop-WrongState $vm $state.ToLowerInvariant() 'running' (Get-WakingHint $vm $state) }
    Invoke-StateChange $vm 'Paused' { Hyper-V\Suspend-VM -VM $machine -ErrorAction Stop 3> $null }
}

function Resume-Machine([string] $vm) {
    $machine = Find-Machine $vm
    switch ([string] $machine.State) {
        'Running' { return @{ machine = ConvertTo-MachineFacts $machine } }
        'Saved' { return Start-Machine $vm }
        { $_ -in 'Paused', 'PausedCritical' } { return Invoke-StateChange $vm 'Running' { Hyper-V\Resume-VM -VM $machine -ErrorAction Stop 3> $null } }
    }
    Stop-WrongState $vm ([string] $machine.State).ToLowerInvariant() 'paused' "Start it with ``hvlab vm start vm-$vm``"
}

function Rename-Machine([string] $vm, [string] $name) {
    $machine = Find-Machine $vm
    $failure = $null
    try { Hyper-V\Rename-VM -VM $machine -NewName $name -ErrorAction Stop }
    catch { $failure = $_ }
    $machine = Find-Machine $vm
    if ([string] $machine.Name -cne $name) {
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM has its old name' "Look at the VM with ``hvlab vm get vm-$vm``" @{ found = [string] $machine.Name }
    }
    @{ machine = ConvertTo-MachineFacts $machine }
}

# Refuses to replace notes that are others than the caller has read.
function Assert-Notes($machine, [string] $was) {
    if ((ConvertTo-PlainText $machine.Notes) -ceq (ConvertTo-PlainText $was)) { return }
    Stop-Operation 'hv.conflict' 'The notes of the VM were changed meanwhile' 'Try again' @{ vm = 'vm-' + ([string] $machine.Id).ToLowerInvariant(); reason = 'notes_changed' }
}

# Writes a machine's notes and looks whether they are there.
function Set-Notes($machine, [string] $notes) {
    Hyper-V\Set-VM -VM $machine -Notes $notes -ErrorAction Stop
    Assert-Notes (Find-Machine ([string] $machine.Id)) $notes
}

# How lines end is the provider's affair.
function ConvertTo-PlainText($text) { ([string] $text).Replace("`r`n", "`n").Trim() }

function Set-Machine([string] $vm, $memory_bytes, $cpus, $notes, $was) {
    $machine = Find-Machine $vm
    if ($null -ne $notes) { Assert-Notes $machine $was }
    if (($null -ne $memory_bytes -or $null -ne $cpus) -and [string] $machine.State -ne 'Off') { Stop-WrongState $vm ([string] $machine.State).ToLowerInvariant() 'off' "Stop it with ``hvlab vm stop vm-$vm``, then change it" }
    if ($null -ne $memory_bytes) { Hyper-V\Set-VMMemory -VM $machine -StartupBytes ([long] $memory_bytes) -ErrorAction Stop }
    if ($null -ne $cpus) { Hyper-V\Set-VMProcessor -VM $machine -Count ([long] $cpus) -ErrorAction Stop }
    if ($null -ne $notes) { Set-Notes $machine $notes }
    @{ machine = ConvertTo-MachineFacts (Find-Machine $vm) }
}
