# Telling an empty host from one that shows this caller nothing. Names of groups are localised, their SIDs are not.

# What the caller's token says. An administrator who is not elevated has the group for deny only; the integrity level tells.
function Get-Rights {
    $text = (& whoami.exe /groups /fo csv /nh) -join "`n"
    $elevated = $text -match '"S-1-16-(12288|16384)"'
    $administrator = $elevated -and $text -match '"S-1-5-32-544"'
    $manager = $text -match '"S-1-5-32-578"'
    @{
        elevated = [bool] $elevated
        administrator = [bool] $administrator
        hyperv_administrator = [bool] $manager
        allowed = [bool] ($administrator -or $manager)
    }
}

function Get-ServiceState {
    $service = Get-Service -Name vmms -ErrorAction SilentlyContinue
    if ($service) { [string] $service.Status } else { 'Missing' }
}

# Succeeds only when this caller may see machines and the service answers, so that "nothing there" is then true.
function Assert-Sight {
    switch (Get-ServiceState) {
        'Running' { }
        'Missing' { Stop-Operation 'hv.unavailable' 'Hyper-V is not installed: there is no service vmms' 'Turn the Windows feature Hyper-V on and restart the computer' @{ step = 'feature'; service = 'missing' } }
        default { Stop-Operation 'hv.unavailable' "The service vmms does not run: it is `"$_`"" 'Start it from an elevated console: Start-Service vmms' @{ step = 'service'; service = $_ } }
    }
    $rights = Get-Rights
    if (-not $rights.allowed) {
        Stop-Operation 'hv.permission' 'This account may not manage Hyper-V, so it is shown nothing' `
            'Have the account added to the group with the SID S-1-5-32-578 (Hyper-V Administrators), then sign out and in again' `
            @{ step = 'rights'; group = 'S-1-5-32-578'; elevated = $rights.elevated }
    }
    $server = Get-Server
    [void] (Hyper-V\Get-VMHost @server -ErrorAction Stop)
}

# An error without a telling id is looked into: the rights and the service are the usual causes.
function Get-FailureCause($record) {
    $id = ([string] $record.FullyQualifiedErrorId).Split(',')[0]
    if ($id -ne 'Unspecified' -and $id -ne 'ObjectNotFound') { return }
    if ($record.Exception.Data -and $record.Exception.Data.Contains('hvlab')) { return }
    try { Assert-Sight }
    catch { if ($_.Exception.Data.Contains('hvlab')) { $_.Exception.Data['hvlab'] } }
}
