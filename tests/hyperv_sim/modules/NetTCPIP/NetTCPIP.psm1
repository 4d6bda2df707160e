# Addresses of the host's own adapters, and the neighbours that it has seen.

Import-Module SimulatedWindows

function Get-Addresses {
    $document = Read-SimulatedDocument nat
    if ($document.PSObject.Properties['addresses']) { @($document.addresses) }
}

function Set-Addresses([object[]] $Entries) {
    Edit-SimulatedDocument nat { param($document) $document | Add-Member -NotePropertyName addresses -NotePropertyValue @($Entries) -Force -PassThru }.GetNewClosure()
}

function ConvertTo-Address($entry) {
    [pscustomobject] @{ PSTypeName = 'Microsoft.Management.Infrastructure.CimInstance#root/StandardCimv2/MSFT_NetIPAddress'; IPAddress = $entry.IPAddress
        InterfaceIndex = 20; InterfaceAlias = $entry.InterfaceAlias; AddressFamily = 'IPv4'; PrefixLength = [byte] $entry.PrefixLength; PrefixOrigin = 'Manual' }
}

function Get-NetIPAddress {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $IPAddress, [string[]] $InterfaceAlias, [string[]] $AddressFamily)
    $found = @(Get-Addresses | Where-Object { (-not $IPAddress -or $IPAddress -contains $_.IPAddress) -and (-not $InterfaceAlias -or $InterfaceAlias -contains $_.InterfaceAlias) })
    if (-not $found -and ($IPAddress -or $InterfaceAlias)) {
        $property = if ($IPAddress) { 'IPAddress' } else { 'InterfaceAlias' }
        $exception = New-Object Exception "No matching MSFT_NetIPAddress objects found by CIM query for $property."
        $PSCmdlet.WriteError((New-Object Management.Automation.ErrorRecord $exception, "CmdletizationQuery_NotFound_$property", 'ObjectNotFound', $null))
    }
    $found | ForEach-Object { ConvertTo-Address $_ }
}

function New-NetIPAddress {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param([Parameter(Mandatory = $true, Position = 0)] [string] $IPAddress, [Parameter(Mandatory = $true)] [string] $InterfaceAlias, [byte] $PrefixLength = 24, [string] $DefaultGateway)
    if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
    if (Get-Addresses | Where-Object { $_.IPAddress -eq $IPAddress }) {
        $PSCmdlet.WriteError((New-Object Management.Automation.ErrorRecord (New-Object Exception 'Instance MSFT_NetIPAddress already exists'), 'Windows System Error 87', 'InvalidArgument', $null))
        return
    }
    if (-not $PSCmdlet.ShouldProcess($IPAddress)) { return }
    $entry = [pscustomobject] @{ IPAddress = $IPAddress; InterfaceAlias = $InterfaceAlias; PrefixLength = $PrefixLength }
    Set-Addresses (@(Get-Addresses) + $entry)
    ConvertTo-Address $entry
}

function Remove-NetIPAddress {
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High')]
    param([Parameter(Position = 0)] [string[]] $IPAddress, [string[]] $InterfaceAlias)
    if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
    $query = @{}
    foreach ($name in 'IPAddress', 'InterfaceAlias') { if ($PSBoundParameters.ContainsKey($name)) { $query[$name] = $PSBoundParameters[$name] } }
    foreach ($entry in @(Get-NetIPAddress @query)) {
        if ($PSCmdlet.ShouldProcess($entry.IPAddress)) { Set-Addresses @(Get-Addresses | Where-Object { $_.IPAddress -ne $entry.IPAddress }) }
    }
}

# Guests that answer are neighbours of the host on the switches that both are on.
function Get-NetNeighbor {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $IPAddress, [string[]] $LinkLayerAddress, [string] $AddressFamily, [string] $State)
    foreach ($adapter in Hyper-V\Get-VMNetworkAdapter -All | Where-Object { -not $_.IsManagementOs }) {
        foreach ($address in $adapter.IPAddresses) {
            if ($IPAddress -and $IPAddress -notcontains $address) { continue }
            $link = $adapter.MacAddress -replace '(..)(?!$)', '$1-'
            if ($LinkLayerAddress -and $LinkLayerAddress -notcontains $link) { continue }
            [pscustomobject] @{ IPAddress = $address; LinkLayerAddress = $link; State = 'Reachable'; InterfaceAlias = "vEthernet ($($adapter.SwitchName))" }
        }
    }
}

Export-ModuleMember -Function 'Get-Net*', 'New-Net*', 'Remove-Net*'
