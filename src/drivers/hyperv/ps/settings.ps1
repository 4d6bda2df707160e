# Settings of a machine beside its size. Values that are $null stay as they are.

$script:SecureBootTemplates = @{ windows = 'MicrosoftWindows'; linux = 'MicrosoftUEFICertificateAuthority' }

# The kind of a device in a boot order. Its class tells; an entry that a guest wrote itself has no device.
function Get-BootKind($device) {
    if (-not $device) { return 'other' }
    switch ($device.GetType().Name) {
        'HardDiskDrive' { 'disk' }
        'DvdDrive' { 'dvd' }
        'VMNetworkAdapter' { 'network' }
        default { 'other' }
    }
}

$script:OldBootKinds = @{ CD = 'dvd'; IDE = 'disk'; VHD = 'disk'; LegacyNetworkAdapter = 'network'; NetworkAdapter = 'network' }

# What the machine tries to boot from, as pairs of a kind and the entry itself.
function Get-BootEntries($machine) {
    if ([int] $machine.Generation -eq 2) {
        foreach ($entry in @((Hyper-V\Get-VMFirmware -VM $machine -ErrorAction Stop).BootOrder)) { @{ kind = Get-BootKind $entry.Device; entry = $entry } }
        return
    }
    foreach ($entry in @((Hyper-V\Get-VMBios -VM $machine -ErrorAction Stop).StartupOrder)) {
        $kind = $script:OldBootKinds[[string] $entry]
        @{ kind = $(if ($kind) { $kind } else { 'other' }); entry = $entry }
    }
}

function Get-MachineSettings([string] $vm) {
    $machine = Find-Machine $vm
    $memory = Hyper-V\Get-VMMemory -VM $machine -ErrorAction Stop
    $processor = Hyper-V\Get-VMProcessor -VM $machine -ErrorAction Stop
    $kinds = @(Get-BootEntries $machine | ForEach-Object { $_.kind } | Where-Object { $_ -ne 'other' } | Select-Object -Unique)
    $settings = @{
        dynamic_memory = [bool] $memory.DynamicMemoryEnabled
        memory_min = [string] $memory.Minimum
        memory_max = [string] $memory.Maximum
        boot = [object[]] $kinds
        nested = [bool] $processor.ExposeVirtualizationExtensions
        start_action = [string] $machine.AutomaticStartAction
        start_delay = [int] $machine.AutomaticStartDelay
        stop_action = [string] $machine.AutomaticStopAction
        secure_boot = $null
        template = $null
        tpm = $null
    }
    if ([int] $machine.Generation -eq 2) {
        $firmware = Hyper-V\Get-VMFirmware -VM $machine -ErrorAction Stop
        $settings.secure_boot = [string] $firmware.SecureBoot -eq 'On'
        $settings.template = [string] $firmware.SecureBootTemplate
        $settings.tpm = [bool] (Hyper-V\Get-VMSecurity -VM $machine -ErrorAction Stop).TpmEnabled
    }
    @{ settings = $settings; machine = ConvertTo-MachineFacts $machine }
}

function Set-SecureBoot($machine, [string] $wanted) {
    $firmware = Hyper-V\Get-VMFirmware -VM $machine -ErrorAction Stop
    if ($wanted -eq 'off') { return Hyper-V\Set-VMFirmware -VM $machine -EnableSecureBoot Off -ErrorAction Stop }
    $template = $script:SecureBootTemplates[$wanted]
    if ([string] $firmware.SecureBootTemplate -ne $template) {
        if ((Hyper-V\Get-VMSecurity -VM $machine -ErrorAction Stop).TpmEnabled) {
            Stop-Operation 'hv.conflict' "The VM has a TPM, so Secure Boot keeps its keys: wanted `"$wanted`"" 'Choose the keys before the VM gets a TPM' @{ wanted = 'no TPM'; found = 'a TPM'; template = [string] $firmware.SecureBootTemplate }
        }
        Hyper-V\Set-VMFirmware -VM $machine -SecureBootTemplate $template -ErrorAction Stop
    }
    Hyper-V\Set-VMFirmware -VM $machine -EnableSecureBoot On -ErrorAction Stop
}

# A TPM needs a key protector first; one that is there stays, since it holds what the guest has sealed.
function Set-Tpm($machine, [bool] $wanted) {
    if (-not $wanted) { return Hyper-V\Disable-VMTPM -VM $machine -ErrorAction Stop }
    # Without a protector there are four bytes, whether they come one by one or all at once.
    $protector = @(Hyper-V\Get-VMKeyProtector -VM $machine -ErrorAction Stop | ForEach-Object { $_ })
    if ($protector.Count -le 4) { Hyper-V\Set-VMKeyProtector -VM $machine -NewLocalKeyProtector -ErrorAction Stop }
    Hyper-V\Enable-VMTPM -VM $machine -ErrorAction Stop
}

# Puts the wanted kinds first. The list is replaced as a whole, so that all other entries have to be passed back.
function Set-BootOrder($machine, [string[]] $kinds) {
    $entries = @(Get-BootEntries $machine)
    $order = @(foreach ($kind in $kinds) { $entries | Where-Object { $_.kind -eq $kind } | ForEach-Object { $_.entry } })
    $order += @($entries | Where-Object { $kinds -notcontains $_.kind } | ForEach-Object { $_.entry })
    if ([int] $machine.Generation -eq 2) { Hyper-V\Set-VMFirmware -VM $machine -BootOrder $order -ErrorAction Stop }
    else { Hyper-V\Set-VMBios -VM $machine -StartupOrder $order -ErrorAction Stop }
}

function Assert-Settable($machine, [string] $vm, $secure_boot, $tpm, $boot, [bool] $only_off) {
    if ($null -ne $boot) {
        $present = @(Get-BootEntries $machine | ForEach-Object { $_.kind } | Select-Object -Unique)
        $missing = @($boot | Where-Object { $present -notcontains $_ })
        if ($missing.Count) { Stop-Operation 'hv.conflict' "The VM has nothing of the kind `"$($missing[0])`" to boot from" 'Attach one first, or leave it out' @{ vm = "vm-$vm"; wanted = [string] $missing[0]; found = $present -join ', ' } }
    }
    if ([int] $machine.Generation -ne 2 -and ($null -ne $secure_boot -or $null -ne $tpm)) {
        Stop-Operation 'hv.unsupported' 'Secure Boot and a TPM need generation 2, and the VM is of generation 1' 'Make a VM of generation 2; a generation cannot be changed' @{ vm = "vm-$vm"; generation = [int] $machine.Generation }
    }
    if ($only_off -and [string] $machine.State -ne 'Off') { Stop-WrongState $vm ([string] $machine.State).ToLowerInvariant() 'off' "Stop it with ``hvlab vm stop vm-$vm``, then change it" }
}

# The keys of Secure Boot come before the TPM, and memory's switch and bounds in one call.
function Set-MachineSettings(
    [string] $vm, $dynamic_memory, $memory_min, $memory_max, $boot, $secure_boot, $tpm, $nested, $start_action, $start_delay, $stop_action, $notes, $was
) {
    $machine = Find-Machine $vm
    $only_off = $null -ne $dynamic_memory -or $null -ne $secure_boot -or $null -ne $tpm -or $null -ne $nested -or ($null -ne $boot -and [int] $machine.Generation -ne 2)
    Assert-Settable $machine $vm $secure_boot $tpm $boot $only_off
    if ($null -ne $notes) { Assert-Notes $machine $was }
    $memory = @{}
    if ($null -ne $dynamic_memory) { $memory.DynamicMemoryEnabled = [bool] $dynamic_memory }
    if ($null -ne $memory_min) { $memory.MinimumBytes = [long] $memory_min }
    if ($null -ne $memory_max) { $memory.MaximumBytes = [long] $memory_max }
    $plain = @{}
    if ($null -ne $start_action) { $plain.AutomaticStartAction = [string] $start_action }
    if ($null -ne $start_delay) { $plain.AutomaticStartDelay = [int] $start_delay }
    if ($null -ne $stop_action) { $plain.AutomaticStopAction = [string] $stop_action }
    $applied = New-Object Collections.ArrayList
    try {
        if ($null -ne $secure_boot) { Set-SecureBoot $machine ([string] $secure_boot); [void] $applied.Add('secure_boot') }
        if ($memory.Count) { Hyper-V\Set-VMMemory -VM $machine @memory -ErrorAction Stop; [void] $applied.Add('memory') }
        if ($null -ne $nested) { Hyper-V\Set-VMProcessor -VM $machine -ExposeVirtualizationExtensions ([bool] $nested) -ErrorAction Stop; [void] $applied.Add('nested') }
        if ($null -ne $tpm) { Set-Tpm $machine ([bool] $tpm); [void] $applied.Add('tpm') }
        if ($null -ne $boot) { Set-BootOrder $machine ([string[]] $boot); [void] $applied.Add('boot') }
        if ($plain.Count) { Hyper-V\Set-VM -VM $machine @plain -ErrorAction Stop; [void] $applied.Add('automatic_actions') }
        if ($null -ne $notes) { Set-Notes $machine $notes }
    }
    catch {
        $_.Exception.Data['applied'] = [object[]] @($applied)
        throw
    }
    Get-MachineSettings $vm
}
