# Every published cmdlet binds as the collected facts say: the facts are read anew here, not through our data files.

BeforeDiscovery {
    . "$PSScriptRoot/support.ps1"
    $cmdletCases = @()
    if ($hasFacts) {
        $reflected = (Read-Facts 'cmdlets-reflected.json').cmdlets
        $cmdletCases = @($reflected.Keys | Where-Object { $reflected[$_].ContainsKey('params') } | ForEach-Object { @{ Name = $_ } })
    }
    $generationCases = '2016', '2019', '2022', '2025' | ForEach-Object { @{ Generation = $_ } }
}

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    $compiled = Get-CompiledCmdlets '2025'
    if ($hasFacts) {
        $reflected = (Read-Facts 'cmdlets-reflected.json').cmdlets
        $documented = (Read-Facts 'cmdlets-documented.json').modules['Hyper-V']
    }
}

Describe 'Binding of <Name>' -ForEach $cmdletCases -Skip:(-not $hasFacts) {
    It 'has the published sets, types, aliases and checks' {
        $facts = $reflected[$Name]
        $cmdlet = $compiled[$Name]
        $cmdlet | Should -Not -BeNullOrEmpty
        $differences = foreach ($parameterName in $facts.params.Keys) {
            $wanted = $facts.params[$parameterName]
            # Renamed since: the old name is an alias now.
            $found = $cmdlet.Parameters.Values | Where-Object { $_.Name -eq $parameterName -or $_.Aliases -ccontains $parameterName } | Sort-Object { $_.Name -ne $parameterName } | Select-Object -First 1
            if (-not $found) { "$parameterName is missing"; continue }
            $wantedSets = @{}
            foreach ($set in $wanted.sets.Keys) { $wantedSets[$set] = $wanted.sets[$set] }
            if ((Format-Sets $wantedSets) -cne (Format-Sets (Get-SetFlags $found))) { '{0}: wanted {1}, found {2}' -f $parameterName, (Format-Sets $wantedSets), (Format-Sets (Get-SetFlags $found)) }
            $wantedType = $wanted.type -replace '^System\.Diagnostics\.' -replace '^System.Management.Automation.CredentialAttribute\(\)$', 'pscredential'
            if ($wantedType -ine (Get-TypeWord $found.ParameterType)) { '{0}: wanted {1}, found {2}' -f $parameterName, $wantedType, (Get-TypeWord $found.ParameterType) }
            $wantedAliases = @(if ($wanted.ContainsKey('aliases')) { $wanted.aliases }) | Sort-Object
            $foundAliases = @($found.Aliases | Where-Object { $_ -ne $parameterName } | Sort-Object)
            if ("$wantedAliases" -ne "$foundAliases") { '{0}: wanted aliases {1}, found {2}' -f $parameterName, "$wantedAliases", "$($found.Aliases)" }
            $wantedChecks = @(if ($wanted.ContainsKey('validate')) { $wanted.validate | ForEach-Object { $_ -replace '\(.*' -replace 'Attribute$' } })
            foreach ($check in $wantedChecks) {
                if (-not ($found.Attributes | Where-Object { $_.GetType().Name -eq "${check}Attribute" })) { "${parameterName}: no $check" }
            }
        }
        $differences | Should -BeNullOrEmpty
    }

    It 'has no parameter that no fact names' {
        $known = @($reflected[$Name].params.Keys)
        if ($documented.ContainsKey($Name)) { $known += $documented[$Name].params.Keys }
        $known += [Management.Automation.Cmdlet]::CommonParameters + [Management.Automation.Cmdlet]::OptionalCommonParameters
        @($compiled[$Name].Parameters.Keys | Where-Object { $known -notcontains $_ }) | Should -BeNullOrEmpty
    }

    It 'has the published default set, confirmation and output type' {
        $facts = $reflected[$Name]
        $attribute = $compiled[$Name].ImplementingType.GetCustomAttributes([Management.Automation.CmdletAttribute], $false)[0]
        $default = if ($facts.ContainsKey('defaultSet')) { $facts.defaultSet } else { '' }
        "$($attribute.DefaultParameterSetName)" | Should -Be ($default -replace '^__AllParameterSets$')
        $attribute.SupportsShouldProcess | Should -Be $facts.ContainsKey('shouldProcess')
        if ($facts.ContainsKey('confirmImpact')) { "$($attribute.ConfirmImpact)" | Should -Be $facts.confirmImpact }
        $outputs = @(if ($facts.ContainsKey('output')) { $facts.output | ForEach-Object { $_ -replace '^.*\.' } })
        foreach ($output in $outputs) { @($compiled[$Name].OutputType.Name -replace '^.*\.') | Should -Contain $output }
    }
}

Describe 'Windows Server <Generation>' -ForEach $generationCases -Skip:(-not $hasFacts) {
    It 'has each cmdlet and parameter that its help documents, and none that is newer' {
        $cmdlets = Get-CompiledCmdlets $Generation
        $differences = foreach ($name in $documented.Keys) {
            $facts = $documented[$name]
            $present = @($facts.in) -contains $Generation
            if ($present -ne $cmdlets.ContainsKey($name)) { "${name}: documented $present, present $($cmdlets.ContainsKey($name))" }
            if (-not $present) { continue }
            foreach ($parameter in $facts.params.Keys) {
                $known = $cmdlets[$name].Parameters.ContainsKey($parameter) -or @($cmdlets[$name].Parameters.Values | Where-Object { $_.Aliases -contains $parameter }).Count
                $newer = $facts.paramsSince.ContainsKey($parameter) -and [int] $facts.paramsSince[$parameter] -gt [int] $Generation
                if ([bool] $known -eq [bool] $newer) { "$name -${parameter}: present $known" }
            }
        }
        $differences | Should -BeNullOrEmpty
    }
}

Describe 'Refused calls' {
    BeforeAll {
        Import-Module "$simulationRoot/modules/Hyper-V/Hyper-V.psd1" -Force
        $world = New-World
    }
    AfterAll { Remove-World $world }

    It 'refuses <Call> as <Id>' -ForEach @(
        @{ Call = 'Start-VM -Id ([guid]::NewGuid())'; Id = 'NamedParameterNotFound,Microsoft.HyperV.PowerShell.Commands.StartVM' }
        @{ Call = 'New-VMSwitch -Name x -SwitchType Internal -AllowManagementOS $true'; Id = 'AmbiguousParameterSet,Microsoft.HyperV.PowerShell.Commands.NewVMSwitch' }
        @{ Call = 'Get-VHD -Path ""'; Id = 'ParameterArgumentValidationErrorEmptyStringNotAllowed,Microsoft.Vhd.PowerShell.Cmdlets.GetVHD' }
        @{ Call = 'Set-VMComPort x 3'; Id = 'ParameterArgumentValidationError,Microsoft.HyperV.PowerShell.Commands.SetVMComPort' }
        @{ Call = 'New-VM x -Generation 3'; Id = 'ParameterArgumentValidationError,Microsoft.HyperV.PowerShell.Commands.NewVM' }
        @{ Call = 'Start-VM -Name x -VM (New-VM y)'; Id = 'AmbiguousParameterSet,Microsoft.HyperV.PowerShell.Commands.StartVM' }
        @{ Call = 'Get-VMReplication'; Id = 'NotSimulated,Microsoft.HyperV.PowerShell.Commands.GetVMReplication' }
    ) {
        $found = $null
        try { & ([scriptblock]::Create($Call)) -ErrorAction Stop } catch { $found = $_ }
        $found.FullyQualifiedErrorId | Should -Be $Id
    }
}
