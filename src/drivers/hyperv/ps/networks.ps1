# Switches and network adapters. No switch that a physical network is on is ever made, and none of somebody else's is removed.

function ConvertTo-SwitchFacts($switch, $adapters) {
    $id = [string] $switch.Id
    $machines = @($adapters | Where-Object { -not $_.IsManagementOs -and [string] $_.SwitchId -eq $id } | ForEach-Object { ([string] $_.VMId).ToLowerInvariant() } | Sort-Object -Unique)
    @{
        id = $id.ToLowerInvariant()
        name = [string] $switch.Name
        type = ([string] $switch.SwitchType).ToLowerInvariant()
        builtin = $id -eq $script:DefaultSwitchId
        notes = [string] $switch.Notes
        machines = [object[]] $machines
    }
}

# All switches with the machines on each: one look for the switches and one for the adapters, whatever their number.
function Get-Switches {
    $server = Get-Server
    $switches = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop)
    if (-not $switches.Count) { Assert-Sight }
    $adapters = @(Hyper-V\Get-VMNetworkAdapter -All @server -ErrorAction Stop)
    $facts = @($switches | ForEach-Object { ConvertTo-SwitchFacts $_ $adapters })
    @{ switches = [object[]] $facts }
}

# The switch with an id, never with a name: names are not unique.
function Find-SwitchById([string] $id) {
    $server = Get-Server
    $found = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop | Where-Object { [string] $_.Id -eq $id })
    if ($found.Count) { return $found[0] }
    Stop-Operation 'hv.not_found' "There is no switch `"$id`"" 'List them with `hvlab switch list`' @{ switch = $id }
}

function New-Switch([string] $name, [string] $type, [string] $notes) {
    if ('internal', 'private' -notcontains $type) {
        Stop-Operation 'hv.policy_denied' "Refused to make the switch `"$name`" $type" 'hvlab never touches a network adapter of the host; take --type internal or private' @{ switch = $name; type = $type }
    }
    $server = Get-Server
    $before = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop)
    $taken = @($before | Where-Object { [string] $_.Name -eq $name })
    if ($taken.Count) { Stop-Operation 'hv.conflict' "There is a switch `"$name`" already" 'Choose another name, or delete that one with `hvlab switch delete`' @{ switch = $name; id = [string] $taken[0].Id; wanted = 'free'; found = 'taken' } }
    $ids = @($before | ForEach-Object { [string] $_.Id })
    $failure = $null
    try { [void] (Hyper-V\New-VMSwitch -Name $name -SwitchType $type -Notes $notes @server -ErrorAction Stop) }
    catch { $failure = $_ }
    $made = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop | Where-Object { $ids -notcontains [string] $_.Id -and [string] $_.Name -ceq $name })
    if ($made.Count) { return @{ switch = ConvertTo-SwitchFacts $made[0] @() } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but there is no new switch' 'List them with `hvlab switch list`' @{ switch = $name }
}

# Removes a switch that bears our mark and that no machine is on, running or not.
function Remove-Switch([string] $id) {
    $switch = Find-SwitchById $id
    $server = Get-Server
    $facts = ConvertTo-SwitchFacts $switch @(Hyper-V\Get-VMNetworkAdapter -All @server -ErrorAction Stop)
    if ($facts.builtin -or -not $facts.notes.Contains('[hvlab;')) { Stop-Operation 'hv.policy_denied' "Refused to remove the switch `"$($facts.name)`": hvlab did not make it" 'Only switches from `hvlab switch create` are deleted' @{ switch = $facts.name; id = $id } }
    if ($facts.machines.Count) {
        $machines = @($facts.machines | ForEach-Object { "vm-$_" })
        Stop-Operation 'hv.conflict' "Cannot remove the switch `"$($facts.name)`": network cards of VMs are on it" "See them with ``hvlab nic list $($machines[0])``, and take them off with ``hvlab nic set`` or ``hvlab nic remove``" @{ switch = $facts.name; vms = $machines; wanted = 'unused'; found = 'in use' }
    }
    Remove-SwitchNat $switch
    $failure = $null
    try { Hyper-V\Remove-VMSwitch -VMSwitch $switch -Force -ErrorAction Stop }
    catch { $failure = $_ }
    $left = @(Hyper-V\Get-VMSwitch @server -ErrorAction Stop | Where-Object { [string] $_.Id -eq $id })
    if (-not $left.Count) { return @{ removed = $true } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the switch is still there' 'List them with `hvlab switch list`' @{ switch = $facts.name }
}

# A part's own id stands after the machine's: `Microsoft:MACHINE\PART`, for some parts with more behind it.
function Get-PartId($part) { if ([string] $part.Id -match '\\([0-9A-Fa-f-]{36})') { $Matches[1].ToLowerInvariant() } else { [string] $part.Id } }

function ConvertTo-AdapterFacts($adapter) {
    $vlan = Get-OptionalValue $adapter 'VlanSetting'
    $switch = [string] $adapter.SwitchId
    @{
        id = Get-PartId $adapter
        name = [string] $adapter.Name
        mac = [string] $adapter.MacAddress
        switch = $(if ($switch) { $switch.ToLowerInvariant() } else { $null })
        switch_name = $(if ($switch) { [string] $adapter.SwitchName } else { $null })
        vlan = $(if ($vlan -and [string] $vlan.OperationMode -eq 'Access') { [int] $vlan.AccessVlanId } else { 0 })
        addresses = [object[]] @($adapter.IPAddresses | ForEach-Object { [string] $_ })
    }
}

function Get-Adapters([string] $vm) {
    $machine = Find-Machine $vm
    $facts = @(Hyper-V\Get-VMNetworkAdapter -VM $machine -ErrorAction Stop | ForEach-Object { ConvertTo-AdapterFacts $_ })
    @{ adapters = [object[]] $facts; machine = ConvertTo-MachineFacts $machine }
}

function Find-Adapter($machine, [string] $adapter) {
    $all = @(Hyper-V\Get-VMNetworkAdapter -VM $machine -ErrorAction Stop)
    $found = @($all | Where-Object { (Get-PartId $_) -eq $adapter })
    if ($found.Count) { return $found[0] }
    Stop-Operation 'hv.not_found' "The VM has no network card `"$adapter`"" ('List them with `hvlab nic list vm-' + ([string] $machine.Id).ToLowerInvariant() + '`') @{ nic = $adapter; known = @($all | ForEach-Object { Get-PartId $_ }) }
}

function Set-AdapterVlan($adapter, [int] $vlan) {
    if ($vlan) { Hyper-V\Set-VMNetworkAdapterVlan -VMNetworkAdapter $adapter -Access -VlanId $vlan -ErrorAction Stop }
    else { Hyper-V\Set-VMNetworkAdapterVlan -VMNetworkAdapter $adapter -Untagged -ErrorAction Stop }
}

# A card that cannot be set up as wanted is taken away again.
function Add-Adapter([string] $vm, [string] $switch, $mac, $vlan) {
    $machine = Find-Machine $vm
    $target = Find-SwitchById $switch
    $address = @{}
    if ($mac) { $address.StaticMacAddress = [string] $mac } else { $address.DynamicMacAddress = $true }
    $adapter = Hyper-V\Add-VMNetworkAdapter -VM $machine @address -Passthru -ErrorAction Stop
    try {
        Hyper-V\Connect-VMNetworkAdapter -VMNetworkAdapter $adapter -VMSwitch $target -ErrorAction Stop
        if ($null -ne $vlan) { Set-AdapterVlan $adapter ([int] $vlan) }
    }
    catch {
        $failure = $_
        Hyper-V\Remove-VMNetworkAdapter -VMNetworkAdapter $adapter -ErrorAction SilentlyContinue
        throw $failure
    }
    @{ adapter = ConvertTo-AdapterFacts (Find-Adapter $machine (Get-PartId $adapter)) }
}

# `switch` is an id, empty to pull the plug, $null to leave it.
function Set-Adapter([string] $vm, [string] $adapter, $switch, $vlan) {
    $machine = Find-Machine $vm
    $found = Find-Adapter $machine $adapter
    if ($switch) { Hyper-V\Connect-VMNetworkAdapter -VMNetworkAdapter $found -VMSwitch (Find-SwitchById ([string] $switch)) -ErrorAction Stop }
    elseif ($null -ne $switch) { Hyper-V\Disconnect-VMNetworkAdapter -VMNetworkAdapter $found -ErrorAction Stop }
    if ($null -ne $vlan) { Set-AdapterVlan $found ([int] $vlan) }
    @{ adapter = ConvertTo-AdapterFacts (Find-Adapter $machine $adapter) }
}

function Remove-Adapter([string] $vm, [string] $adapter) {
    $machine = Find-Machine $vm
    $failure = $null
    try { Hyper-V\Remove-VMNetworkAdapter -VMNetworkAdapter (Find-Adapter $machine $adapter) -ErrorAction Stop }
    catch { $failure = $_ }
    $left = @(Hyper-V\Get-VMNetworkAdapter -VM $machine -ErrorAction Stop | Where-Object { (Get-PartId $_) -eq $adapter })
    if (-not $left.Count) { return @{ removed = $true } }
    if ($failure) { throw $failure }
    Stop-Operation 'hv.job_failed' 'Hyper-V reported success, but the network card is still there' "List them with ``hvlab nic list vm-$vm``" @{ nic = $adapter }
}
