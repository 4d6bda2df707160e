# Networks behind the host (NAT) and ports of the host that lead through them. A network of ours bears its switch's id.

function Get-NatName([string] $switch) { "hvlab-$switch" }

# The name of the host's own adapter on a switch; it changes with the switch's name.
function Get-HostAdapterName($switch) {
    $server = Get-Server
    $found = @(Hyper-V\Get-VMNetworkAdapter -ManagementOS @server -ErrorAction Stop | Where-Object { [string] $_.SwitchId -eq [string] $switch.Id })
    if ($found.Count) { return "vEthernet ($([string] $found[0].SwitchName))" }
    Stop-Operation 'hv.job_failed' "The host has no network adapter on the switch `"$($switch.Name)`"" 'Look at the switch in the Hyper-V manager' @{ switch = [string] $switch.Name }
}

# Lets a switch of ours lead out through the host. What a failure has made by then is taken back by Remove-SwitchNat.
function Add-SwitchNat([string] $id, [string] $prefix, [string] $address, [int] $length) {
    $switch = Find-SwitchById $id
    try {
        [void] (New-NetIPAddress -IPAddress $address -PrefixLength $length -InterfaceAlias (Get-HostAdapterName $switch) -ErrorAction Stop)
        [void] (New-NetNat -Name (Get-NatName $id) -InternalIPInterfaceAddressPrefix $prefix -ErrorAction Stop)
    }
    catch {
        $failure = $_
        Remove-SwitchNat $switch
        throw $failure
    }
    @{ nat = $prefix }
}

# Takes a switch's network away, in the order in which its parts hang on each other.
function Remove-SwitchNat($switch) {
    $name = Get-NatName ([string] $switch.Id).ToLowerInvariant()
    if (@(Get-NetNat -ErrorAction Stop | Where-Object { [string] $_.Name -eq $name }).Count) { Remove-NetNat -Name $name -Confirm:$false -ErrorAction Stop }
    if ([string] $switch.SwitchType -ne 'Internal') { return }
    $alias = Get-HostAdapterName $switch
    foreach ($address in @(Get-NetIPAddress -ErrorAction Stop | Where-Object { [string] $_.InterfaceAlias -eq $alias -and [string] $_.PrefixOrigin -eq 'Manual' })) {
        Remove-NetIPAddress -IPAddress ([string] $address.IPAddress) -Confirm:$false -ErrorAction Stop
    }
}

# The networks behind the host and all forwards through them.
function Get-Nats {
    $nats = @(Get-NetNat -ErrorAction Stop | ForEach-Object { @{ name = [string] $_.Name; prefix = [string] $_.InternalIPInterfaceAddressPrefix } })
    $mappings = @(Get-NetNatStaticMapping -ErrorAction Stop | ForEach-Object {
        @{
            id = [int] $_.StaticMappingID
            nat = [string] $_.NatName
            protocol = ([string] $_.Protocol).ToLowerInvariant()
            host_address = [string] $_.ExternalIPAddress
            host_port = [int] $_.ExternalPort
            address = [string] $_.InternalIPAddress
            guest_port = [int] $_.InternalPort
        }
    })
    @{ nats = [object[]] $nats; mappings = [object[]] $mappings }
}

function Add-NatMapping([string] $nat, [string] $host_address, [int] $host_port, [string] $address, [int] $guest_port) {
    try { [void] (Add-NetNatStaticMapping -NatName $nat -Protocol TCP -ExternalIPAddress $host_address -ExternalPort $host_port -InternalIPAddress $address -InternalPort $guest_port -ErrorAction Stop) }
    catch {
        # The same answer for a port that somebody has and for one that Windows keeps for itself.
        if ([string] $_.FullyQualifiedErrorId -like 'Windows System Error 32*') {
            Stop-Operation 'hv.conflict' "The port $host_port of $host_address is taken, or Windows keeps it for itself" 'Take another port; --host-port auto finds a free one' @{ host_address = $host_address; host_port = $host_port; wanted = 'free'; found = 'taken' }
        }
        throw
    }
    Get-Nats
}

function Remove-NatMapping([int] $id) {
    Remove-NetNatStaticMapping -StaticMappingID $id -Confirm:$false -ErrorAction Stop
    Get-Nats
}
