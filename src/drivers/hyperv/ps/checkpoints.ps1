# Checkpoints. Hyper-V keeps their kind as a setting of the VM; an operation sets it and puts it back.

function ConvertTo-CheckpointFacts($checkpoint) {
    $parent = $checkpoint.ParentSnapshotId
    @{
        id = ([string] $checkpoint.Id).ToLowerInvariant()
        name = [string] $checkpoint.Name
        parent = $(if ($parent) { ([string] $parent).ToLowerInvariant() } else { $null })
        created = ConvertTo-Moment $checkpoint.CreationTime
        # A checkpoint with memory is a saved machine.
        memory_state = [string] $checkpoint.State -ne 'Off'
        kind = [string] $checkpoint.SnapshotType
    }
}

function Get-Checkpoints([string] $vm) {
    $machine = Find-Machine $vm
    $found = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop)
    $facts = @($found | ForEach-Object { ConvertTo-CheckpointFacts $_ })
    @{ checkpoints = [object[]] $facts; machine = ConvertTo-MachineFacts $machine }
}

function Get-ListingHint([string] $vm) { "List them with ``hvlab checkpoint list vm-$($vm.ToLowerInvariant())``" }

function Find-Checkpoint($machine, [string] $checkpoint) {
    $found = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop | Where-Object { ([string] $_.Id) -eq $checkpoint })
    if ($found.Count) { return $found[0] }
    Stop-Operation 'hv.not_found' "The VM has no checkpoint `"ckpt-$checkpoint`"" (Get-ListingHint ([string] $machine.Id)) @{ checkpoint = "ckpt-$checkpoint" }
}

function Assert-FreeName($machine, [string] $name, [string] $except) {
    $taken = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop | Where-Object { [string] $_.Name -ceq $name -and ([string] $_.Id) -ne $except })
    if (-not $taken.Count) { return }
    Stop-Operation 'hv.conflict' "The VM has a checkpoint `"$name`" already" 'Choose another name, or delete that one' @{ name = $name; checkpoint = 'ckpt-' + ([string] $taken[0].Id).ToLowerInvariant() }
}

# Makes one of the wanted kind. It counts as made when a new id is there, whatever the cmdlet said.
function New-Checkpoint([string] $vm, [string] $name, [bool] $memory_state) {
    $machine = Wait-Idle $vm
    $state = [string] $machine.State
    if ($memory_state -and $state -ne 'Running') { Stop-WrongState $vm $state.ToLowerInvariant() 'running' ((Get-WakingHint $vm $state) + ', or leave --memory-state out') }
    Assert-FreeName $machine $name ''
    # Without memory a running guest must bring its disks to rest itself; one that cannot is told so, never half saved.
    $kind = $(if ($memory_state -or $state -eq 'Off') { 'Standard' } else { 'ProductionOnly' })
    $before = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop | ForEach-Object { [string] $_.Id })
    $usual = [string] $machine.CheckpointType
    $failure = $null
    try {
        if ($usual -ne $kind) { Hyper-V\Set-VM -VM $machine -CheckpointType $kind -ErrorAction Stop }
        Hyper-V\Checkpoint-VM -VM $machine -SnapshotName $name -ErrorAction Stop 3> $null
    }
    catch { $failure = $_ }
    finally {
        if ($usual -ne $kind) { Hyper-V\Set-VM -VM $machine -CheckpointType $usual -ErrorAction SilentlyContinue }
    }
    $machine = Wait-Idle $vm
    $new = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop | Where-Object { $before -notcontains [string] $_.Id -and [string] $_.Name -ceq $name })
    if ($new.Count) { return @{ checkpoint = ConvertTo-CheckpointFacts $new[-1] } }
    if ($failure -and $kind -eq 'ProductionOnly') {
        Stop-Operation 'hv.unsupported' 'The guest cannot bring its disks to rest for a checkpoint without memory' 'Give --memory-state, or stop the VM first' @{ reason = [string] $failure.Exception.Message }
    }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but there is no new checkpoint' (Get-ListingHint $vm) @{ name = $name }
}

# Puts the VM's usual kind of checkpoint back, for a call that was cut off between setting and putting back.
function Reset-CheckpointType([string] $vm, [string] $kind) {
    $machine = Find-Machine $vm
    if ([string] $machine.CheckpointType -ne $kind) { Hyper-V\Set-VM -VM $machine -CheckpointType $kind -ErrorAction Stop }
    @{ machine = ConvertTo-MachineFacts (Find-Machine $vm) }
}

function Restore-Checkpoint([string] $vm, [string] $checkpoint) {
    $machine = Wait-Idle $vm
    $found = Find-Checkpoint $machine $checkpoint
    $memory = [string] $found.State -ne 'Off'
    $failure = $null
    Write-Progress -Activity 'applying the checkpoint' -Status ' '
    try { Hyper-V\Restore-VMSnapshot -VMSnapshot $found -Confirm:$false -ErrorAction Stop }
    catch { $failure = $_ }
    $machine = Wait-Idle $vm
    $machine = Wait-Settled $vm
    $isThere = ([string] $machine.ParentSnapshotId) -eq $checkpoint -and 'Off', 'Saved', 'FastSaved' -contains [string] $machine.State
    if (-not $isThere) {
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the VM is not at the checkpoint' "Look at the VM with ``hvlab vm get vm-$vm``" @{ found = [string] $machine.State }
    }
    if ($memory) { return Start-Machine $vm }
    @{ machine = ConvertTo-MachineFacts $machine }
}

# Removes one and waits until its disks are merged, which Hyper-V does in the background.
function Remove-Checkpoint([string] $vm, [string] $checkpoint) {
    $machine = Wait-Idle $vm
    $found = Find-Checkpoint $machine $checkpoint
    $failure = $null
    try { Hyper-V\Remove-VMSnapshot -VMSnapshot $found -ErrorAction Stop }
    catch { $failure = $_ }
    $machine = Wait-Idle $vm
    $left = @(Hyper-V\Get-VMSnapshot -VM $machine -ErrorAction Stop | Where-Object { ([string] $_.Id) -eq $checkpoint })
    if ($left.Count) {
        if ($failure) { throw $failure }
        Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the checkpoint is still there' (Get-ListingHint $vm) @{ checkpoint = "ckpt-$checkpoint" }
    }
    @{ machine = ConvertTo-MachineFacts $machine }
}

function Rename-Checkpoint([string] $vm, [string] $checkpoint, [string] $name) {
    $machine = Find-Machine $vm
    $found = Find-Checkpoint $machine $checkpoint
    Assert-FreeName $machine $name $checkpoint
    Hyper-V\Rename-VMSnapshot -VMSnapshot $found -NewName $name -ErrorAction Stop
    @{ checkpoint = ConvertTo-CheckpointFacts (Find-Checkpoint $machine $checkpoint) }
}

function Export-Checkpoint([string] $vm, [string] $checkpoint, [string] $folder) {
    $machine = Wait-Idle $vm
    $found = Find-Checkpoint $machine $checkpoint
    [void] [IO.Directory]::CreateDirectory($folder)
    Hyper-V\Export-VMSnapshot -VMSnapshot $found -Path $folder -ErrorAction Stop
    @{ files = ConvertTo-FileList $folder; checkpoint = ConvertTo-CheckpointFacts $found; memory_startup = [string] $found.MemoryStartup; cpus = [int] $found.ProcessorCount }
}
