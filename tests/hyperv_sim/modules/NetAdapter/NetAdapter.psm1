# One physical adapter, and one virtual adapter for each switch that the host is on.
function Get-NetAdapter {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $Name = '*', [switch] $Physical)
    $adapters = @([pscustomobject] @{ Name = 'Ethernet'; InterfaceDescription = 'Simulated Ethernet Controller'; ifIndex = 4; Status = 'Up'; MacAddress = '02-00-00-00-00-01'; LinkSpeed = '1 Gbps' })
    if (-not $Physical) {
        foreach ($link in Hyper-V\Get-VMNetworkAdapter -ManagementOS) {
            $adapters += [pscustomobject] @{ Name = "vEthernet ($($link.SwitchName))"; InterfaceDescription = 'Hyper-V Virtual Ethernet Adapter'; ifIndex = 20; Status = 'Up'; MacAddress = $link.MacAddress -replace '(..)(?!$)', '$1-'; LinkSpeed = '10 Gbps' }
        }
    }
    foreach ($pattern in $Name) { $adapters | Where-Object { $_.Name -like $pattern } }
}
Export-ModuleMember -Function Get-NetAdapter
