# What Windows itself answers on the simulated host: services, features, the caller's token. And the documents of the world for
# those modules that are functions on Windows too.

$script:assemblyPath = $null

function Import-Simulation {
    if ($script:assemblyPath) { return }
    $root = Split-Path -Parent (Split-Path -Parent $PSScriptRoot)
    $script:assemblyPath = & "$root/build/build_assembly.ps1"
    [void] [Reflection.Assembly]::LoadFrom($script:assemblyPath)
}

# A document of the world as objects; an empty one when it does not exist.
function Read-SimulatedDocument {
    param([Parameter(Mandatory = $true)] [string] $Name)
    Import-Simulation
    [HvlabSimulation.WorldAccess]::Read($Name) | ConvertFrom-Json
}

# Runs a script with a document of the world, alone among all processes, and stores what it gives back.
function Edit-SimulatedDocument {
    param([Parameter(Mandatory = $true)] [string] $Name, [Parameter(Mandatory = $true)] [scriptblock] $Change)
    Import-Simulation
    [HvlabSimulation.WorldAccess]::Edit($Name, [Func[string, string]] {
        param($text)
        $document = & $Change ($text | ConvertFrom-Json)
        ConvertTo-Json -InputObject $document -Depth 10 -Compress
    })
}

# The caller's groups, as the faults say: full (elevated administrator), hyperv_administrator, stale, denied, empty.
function Get-CallerRights {
    $path = Join-Path $env:HVLAB_HYPERV_SIM 'faults.json'
    if ([IO.File]::Exists($path)) {
        $faults = [IO.File]::ReadAllText($path) | ConvertFrom-Json
        if ($faults.PSObject.Properties['permission']) { return $faults.permission }
        if ($faults.PSObject.Properties['elevated'] -and -not $faults.elevated) { return 'hyperv_administrator' }
    }
    'full'
}

# True for an elevated administrator; for others an error as CIM gives it, in the caller's name.
function Test-SimulatedAdministrator {
    param([Parameter(Mandatory = $true)] [Management.Automation.PSCmdlet] $Caller)
    if ((Get-CallerRights) -eq 'full') { return $true }
    $exception = New-Object System.UnauthorizedAccessException 'Access denied'
    $Caller.WriteError((New-Object Management.Automation.ErrorRecord $exception, 'Windows System Error 5', 'PermissionDenied', $null))
    $false
}

function Get-Service {
    [CmdletBinding()]
    param([Parameter(Position = 0, ValueFromPipeline = $true)] [Alias('ServiceName')] [string[]] $Name = '*')
    process {
        $path = Join-Path $env:HVLAB_HYPERV_SIM 'faults.json'
        $stopped = [IO.File]::Exists($path) -and [IO.File]::ReadAllText($path) -match '"service"\s*:\s*"stopped"'
        $missing = [IO.File]::Exists($path) -and [IO.File]::ReadAllText($path) -match '"service"\s*:\s*"missing"'
        $services = foreach ($service in 'vmms', 'vmcompute', 'hns') {
            if ($missing) { break }
            [pscustomobject] @{ Status = $(if ($stopped) { 'Stopped' } else { 'Running' }); Name = $service; ServiceName = $service; DisplayName = $service; StartType = 'Automatic' }
        }
        foreach ($pattern in $Name) {
            $found = @($services | Where-Object { $_.Name -like $pattern })
            if ($found) { $found; continue }
            if ([Management.Automation.WildcardPattern]::ContainsWildcardCharacters($pattern)) { continue }
            $exception = New-Object System.InvalidOperationException "Cannot find any service with service name '$pattern'."
            $PSCmdlet.WriteError((New-Object Management.Automation.ErrorRecord $exception, 'NoServiceFoundForGivenName', 'ObjectNotFound', $pattern))
        }
    }
}

function Get-WindowsOptionalFeature {
    [CmdletBinding()]
    param([switch] $Online, [string] $FeatureName = '*')
    foreach ($feature in 'Microsoft-Hyper-V-All', 'Microsoft-Hyper-V', 'Microsoft-Hyper-V-Management-PowerShell') {
        if ($feature -like $FeatureName) { [pscustomobject] @{ FeatureName = $feature; State = 'Enabled'; Online = $true } }
    }
}

# Who is in a group, whatever the caller's token says: a stale token's account is a member.
function Get-LocalGroupMember {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string] $Group, [string] $SID)
    $account = [pscustomobject] @{ ObjectClass = 'User'; Name = "SIMHOST\$([Environment]::UserName)"; SID = 'S-1-5-21-1-2-3-1001'; PrincipalSource = 'Local' }
    $rights = Get-CallerRights
    if ($SID -eq 'S-1-5-32-578' -and $rights -in 'stale', 'hyperv_administrator') { $account }
    if ($SID -eq 'S-1-5-32-544' -and $rights -in 'full', 'hyperv_administrator') { $account }
}

# `whoami.exe /groups /fo csv /nh`: names are localised, the SIDs are not.
function whoami.exe {
    $rights = Get-CallerRights
    '"Everyone","Well-known group","S-1-1-0","Mandatory group, Enabled by default, Enabled group"'
    if ($rights -eq 'full') { '"BUILTIN\Administrators","Alias","S-1-5-32-544","Mandatory group, Enabled by default, Enabled group, Group owner"' }
    elseif ($rights -eq 'hyperv_administrator') { '"BUILTIN\Administrators","Alias","S-1-5-32-544","Group used for deny only"' }
    if ($rights -eq 'hyperv_administrator') { '"BUILTIN\Hyper-V Administrators","Alias","S-1-5-32-578","Mandatory group, Enabled by default, Enabled group"' }
    $level = if ($rights -eq 'full') { '"Mandatory Label\High Mandatory Level","Label","S-1-16-12288",""' } else { '"Mandatory Label\Medium Mandatory Level","Label","S-1-16-8192",""' }
    $level
    $global:LASTEXITCODE = 0
}
