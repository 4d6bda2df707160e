# Output classes and enumerations have the published members, in the published order, with the published types and integers.

BeforeDiscovery {
    . "$PSScriptRoot/support.ps1"
    $enumCases = @()
    $classCases = @()
    if ($hasFacts) {
        $types = Read-Facts 'types.json'
        $enumCases = @($types.enums.Keys | Where-Object { $types.enums[$_] -is [hashtable] } | ForEach-Object { @{ Name = $_ } })
        $classCases = @($types.classes.Keys | ForEach-Object { @{ Name = $_ } })
    }
}

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    if ($hasFacts) { $types = Read-Facts 'types.json' }
    # Of the reflected build, so without the members that newer builds add.
    $assembly = [Reflection.Assembly]::LoadFrom((& "$simulationRoot/build/build_assembly.ps1" -Generation 2022))
    function Find-Type([string] $name) {
        $short = $name -replace '^RestartVM\.', 'RestartVM+'
        foreach ($namespace in 'Microsoft.HyperV.PowerShell', 'Microsoft.Vhd.PowerShell', 'Microsoft.Virtualization.Client.Management', 'Microsoft.HyperV.PowerShell.Commands') {
            $type = $assembly.GetType("$namespace.$short")
            if ($type) { return $type }
        }
    }
}

Describe 'Enumeration <Name>' -ForEach $enumCases -Skip:(-not $hasFacts) {
    It 'has the published integers' {
        $type = Find-Type $Name
        foreach ($member in $types.enums[$Name].Keys) { [int] [Enum]::Parse($type, $member) | Should -Be $types.enums[$Name][$member] }
        [Enum]::GetNames($type).Count | Should -Be $types.enums[$Name].Count
    }
}

Describe 'Class <Name>' -ForEach $classCases -Skip:(-not $hasFacts) {
    It 'has the published members in the published order' {
        $found = @((Find-Type $Name).GetProperties() | ForEach-Object { $_.Name })
        $found -join ' ' | Should -Be (@($types.classes[$Name].Keys) -join ' ')
    }

    It 'has the published types' {
        $differences = foreach ($property in (Find-Type $Name).GetProperties()) {
            $type = $property.PropertyType
            if ($type.IsGenericType -and $type.Name -like 'List*') { continue }
            $inner = [Nullable]::GetUnderlyingType($type)
            $word = if ($inner) { "$($inner.Name)?" } else { $type.Name }
            $wanted = $types.classes[$Name][$property.Name] -replace '^.*\.(?=\w+(\[\]|\?)?$)'
            if ($wanted -like 'SecurityIdentifier*') { continue }
            if ($word -ne $wanted) { "$($property.Name): wanted $wanted, found $word" }
        }
        $differences | Should -BeNullOrEmpty
    }
}

Describe 'Type names' {
    It 'has the published chain under a virtual machine' {
        $names = @()
        for ($type = Find-Type 'VirtualMachine'; $type; $type = $type.BaseType) { $names += $type.FullName }
        $names -join ' ' | Should -Be 'Microsoft.HyperV.PowerShell.VirtualMachine Microsoft.HyperV.PowerShell.VirtualMachineBase Microsoft.HyperV.PowerShell.ComputeResource Microsoft.HyperV.PowerShell.VirtualizationObject System.Object'
    }
}
