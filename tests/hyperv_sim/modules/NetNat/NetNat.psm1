# NAT networks and port forwards of the simulated host. On Windows these are CDXML functions, so functions they are here: the
# error ids carry the function's name.

Import-Module SimulatedWindows

function Write-NotFound([Management.Automation.PSCmdlet] $Caller, [string] $Property, [string] $Value) {
    $exception = New-Object Exception "No MSFT_NetNat objects found with property '$Property' equal to '$Value'."
    $Caller.WriteError((New-Object Management.Automation.ErrorRecord $exception, "CmdletizationQuery_NotFound_$Property", 'ObjectNotFound', $Value))
}

function Write-Refusal([Management.Automation.PSCmdlet] $Caller, [string] $Id, [string] $Category, [string] $Message) {
    $Caller.WriteError((New-Object Management.Automation.ErrorRecord (New-Object Exception $Message), $Id, $Category, $null))
}

function Get-Entries([string] $Name) {
    $document = Read-SimulatedDocument nat
    if ($document.PSObject.Properties[$Name]) { @($document.$Name) }
}

function Set-Entries([string] $Name, [object[]] $Entries) {
    Edit-SimulatedDocument nat { param($document) $document | Add-Member -NotePropertyName $Name -NotePropertyValue @($Entries) -Force -PassThru }.GetNewClosure()
}

function ConvertTo-Nat($entry) {
    [pscustomobject] @{ PSTypeName = 'Microsoft.Management.Infrastructure.CimInstance#root/StandardCimv2/MSFT_NetNat'; Name = $entry.Name
        ExternalIPInterfaceAddressPrefix = ''; InternalIPInterfaceAddressPrefix = $entry.InternalIPInterfaceAddressPrefix; InternalRoutingDomainId = '{00000000-0000-0000-0000-000000000000}'
        IcmpQueryTimeout = 30; TcpEstablishedConnectionTimeout = 1800; TcpTransientConnectionTimeout = 120; UdpIdleSessionTimeout = 120; Active = $true; Store = 'Local' }
}

function ConvertTo-Mapping($entry) {
    [pscustomobject] @{ PSTypeName = 'Microsoft.Management.Infrastructure.CimInstance#root/StandardCimv2/MSFT_NetNatStaticMapping'; StaticMappingID = [uint32] $entry.StaticMappingID
        NatName = $entry.NatName; Protocol = $entry.Protocol; RemoteExternalIPAddressPrefix = '0.0.0.0/0'; ExternalIPAddress = $entry.ExternalIPAddress
        ExternalPort = [uint16] $entry.ExternalPort; InternalIPAddress = $entry.InternalIPAddress; InternalPort = [uint16] $entry.InternalPort; Active = $true }
}

function Get-NetNat {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $Name, [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob)
    $entries = @(Get-Entries nats)
    if (-not $Name) { $entries | ForEach-Object { ConvertTo-Nat $_ }; return }
    foreach ($one in $Name) {
        $found = @($entries | Where-Object { $_.Name -like $one })
        if (-not $found -and -not [Management.Automation.WildcardPattern]::ContainsWildcardCharacters($one)) { Write-NotFound $PSCmdlet 'Name' $one }
        $found | ForEach-Object { ConvertTo-Nat $_ }
    }
}

function New-NetNat {
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
    param([Parameter(Mandatory = $true, Position = 0)] [string] $Name, [string] $ExternalIPInterfaceAddressPrefix, [string] $InternalRoutingDomainId, [string] $InternalIPInterfaceAddressPrefix,
        [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob)
    if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
    $entries = @(Get-Entries nats)
    if ($entries | Where-Object { $_.Name -eq $Name }) { Write-Refusal $PSCmdlet 'Windows System Error 52' 'NotSpecified' 'You were not connected because a duplicate name exists on the network.'; return }
    if ($InternalIPInterfaceAddressPrefix -notmatch '^\d+(\.\d+){3}/\d+$') { Write-Refusal $PSCmdlet 'Windows System Error 87' 'InvalidArgument' 'The parameter is incorrect.'; return }
    if ($entries | Where-Object { $_.InternalIPInterfaceAddressPrefix -eq $InternalIPInterfaceAddressPrefix }) { Write-Refusal $PSCmdlet 'Windows System Error 87' 'InvalidArgument' 'The parameter is incorrect.'; return }
    if (-not $PSCmdlet.ShouldProcess($Name)) { return }
    $entry = [pscustomobject] @{ Name = $Name; InternalIPInterfaceAddressPrefix = $InternalIPInterfaceAddressPrefix }
    Set-Entries nats ($entries + $entry)
    ConvertTo-Nat $entry
}

function Set-NetNat {
    [CmdletBinding(SupportsShouldProcess = $true, DefaultParameterSetName = 'Query')]
    param([Parameter(Mandatory = $true, Position = 0, ParameterSetName = 'Query')] [string[]] $Name, [Parameter(Mandatory = $true, ParameterSetName = 'InputObject', ValueFromPipeline = $true)] [object[]] $InputObject,
        [uint32] $IcmpQueryTimeout, [uint32] $TcpEstablishedConnectionTimeout, [uint32] $TcpTransientConnectionTimeout, [uint32] $UdpIdleSessionTimeout, [switch] $PassThru)
    if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
    foreach ($one in $Name) { if (-not (Get-Entries nats | Where-Object { $_.Name -eq $one })) { Write-NotFound $PSCmdlet 'Name' $one } }
}

function Remove-NetNat {
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High', DefaultParameterSetName = 'Query')]
    param([Parameter(Position = 0, ParameterSetName = 'Query')] [string[]] $Name, [Parameter(Mandatory = $true, ParameterSetName = 'InputObject', ValueFromPipeline = $true)] [object[]] $InputObject,
        [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob, [switch] $PassThru)
    process {
        if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
        $names = if ($InputObject) { $InputObject.Name } elseif ($Name) { $Name } else { @(Get-Entries nats).Name }
        foreach ($one in $names) {
            $entries = @(Get-Entries nats)
            $found = @($entries | Where-Object { $_.Name -like $one })
            if (-not $found) { Write-NotFound $PSCmdlet 'Name' $one; continue }
            if (-not $PSCmdlet.ShouldProcess($one)) { continue }
            Set-Entries nats @($entries | Where-Object { $_.Name -notlike $one })
            Set-Entries mappings @(Get-Entries mappings | Where-Object { $_.NatName -notlike $one })
            if ($PassThru) { $found | ForEach-Object { ConvertTo-Nat $_ } }
        }
    }
}

function Get-NetNatStaticMapping {
    [CmdletBinding()]
    param([uint32[]] $StaticMappingID, [Parameter(Position = 0)] [string[]] $NatName, [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob)
    foreach ($entry in @(Get-Entries mappings)) {
        if ($StaticMappingID -and $StaticMappingID -notcontains $entry.StaticMappingID) { continue }
        if ($NatName -and $NatName -notcontains $entry.NatName) { continue }
        ConvertTo-Mapping $entry
    }
}

function Add-NetNatStaticMapping {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param([Parameter(Mandatory = $true, Position = 0)] [string] $NatName, [Parameter(Mandatory = $true)] [ValidateSet('TCP', 'UDP')] [string] $Protocol, [string] $RemoteExternalIPAddressPrefix,
        [Parameter(Mandatory = $true)] [string] $ExternalIPAddress, [Parameter(Mandatory = $true)] [uint16] $ExternalPort, [Parameter(Mandatory = $true)] [string] $InternalIPAddress, [uint16] $InternalPort,
        [string] $InternalRoutingDomainId, [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob)
    if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
    if (-not (Get-Entries nats | Where-Object { $_.Name -eq $NatName })) { Write-Refusal $PSCmdlet 'Windows System Error 2' 'ObjectNotFound' 'The system cannot find the file specified.'; return }
    $entries = @(Get-Entries mappings)
    $taken = $entries | Where-Object { $_.Protocol -eq $Protocol -and $_.ExternalPort -eq $ExternalPort -and $_.ExternalIPAddress -eq $ExternalIPAddress }
    $document = Read-SimulatedDocument nat
    $excluded = $document.PSObject.Properties['excluded_ports'] -and @($document.excluded_ports) -contains $ExternalPort
    if ($taken -or $excluded) { Write-Refusal $PSCmdlet 'Windows System Error 32' 'NotSpecified' 'The process cannot access the file because it is being used by another process.'; return }
    if (-not $PSCmdlet.ShouldProcess($NatName)) { return }
    $next = 0
    foreach ($entry in $entries) { if ($entry.StaticMappingID -ge $next) { $next = $entry.StaticMappingID + 1 } }
    $port = if ($InternalPort) { $InternalPort } else { $ExternalPort }
    $entry = [pscustomobject] @{ StaticMappingID = $next; NatName = $NatName; Protocol = $Protocol.ToUpperInvariant(); ExternalIPAddress = $ExternalIPAddress; ExternalPort = $ExternalPort; InternalIPAddress = $InternalIPAddress; InternalPort = $port }
    Set-Entries mappings ($entries + $entry)
    ConvertTo-Mapping $entry
}

function Remove-NetNatStaticMapping {
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High', DefaultParameterSetName = 'Query')]
    param([Parameter(ParameterSetName = 'Query')] [uint32[]] $StaticMappingID, [Parameter(Position = 0, ParameterSetName = 'Query')] [string[]] $NatName,
        [Parameter(Mandatory = $true, ParameterSetName = 'InputObject', ValueFromPipeline = $true)] [object[]] $InputObject, [object[]] $CimSession, [int] $ThrottleLimit, [switch] $AsJob, [switch] $PassThru)
    process {
        if (-not (Test-SimulatedAdministrator $PSCmdlet)) { return }
        $ids = if ($InputObject) { $InputObject.StaticMappingID } else { @(Get-NetNatStaticMapping -StaticMappingID $StaticMappingID -NatName $NatName).StaticMappingID }
        if ($StaticMappingID -and -not $ids) { Write-NotFound $PSCmdlet 'StaticMappingID' "$StaticMappingID"; return }
        foreach ($id in $ids) {
            if ($PSCmdlet.ShouldProcess("$id")) { Set-Entries mappings @(Get-Entries mappings | Where-Object { $_.StaticMappingID -ne $id }) }
        }
    }
}

Export-ModuleMember -Function '*-NetNat*'
