# Errors have the ids, categories, targets and texts that were seen on real hosts.

BeforeDiscovery { . "$PSScriptRoot/support.ps1" }

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    Import-Module "$simulationRoot/modules/Hyper-V/Hyper-V.psd1" -Force
    $observed = if ($hasFacts) { (Read-Facts 'errors/observed-errors.json').errors }
    # The observed record of a cmdlet whose condition holds a text.
    function Find-Observed([string] $cmdlet, [string] $when) { $observed | Where-Object { $_.cmdlet -like "*$cmdlet*" -and $_.when -like "*$when*" } | Select-Object -First 1 }
    function Assert-Same($failure, $facts, [hashtable] $values = @{}) {
        if ($facts.ContainsKey('fqid')) { $failure.FullyQualifiedErrorId | Should -Be $facts.fqid }
        if ($facts.ContainsKey('category')) { "$($failure.CategoryInfo.Category)" | Should -Be $facts.category }
        if ($facts.ContainsKey('exception') -and $facts.exception -eq 'VirtualizationException') { $failure.Exception.GetType().FullName | Should -Be 'Microsoft.HyperV.PowerShell.VirtualizationException' }
        $failure.CategoryInfo.Activity | Should -Not -BeNullOrEmpty
        if (-not $facts.ContainsKey('message') -or $facts.message -match '^\(|\.\.\.|gist') { return }
        $wanted = $facts.message
        foreach ($key in $values.Keys) { $wanted = $wanted.Replace("<$key>", $values[$key]) }
        $failure.Exception.Message | Should -Be $wanted
    }
    $world = New-World
    $machine = New-VM -Name 'web' -Generation 2
    $upper = "$($machine.Id)".ToUpperInvariant()
}

AfterAll { Remove-World $world }

Describe 'Observed errors' -Skip:(-not $hasFacts) {
    It 'Get-VM of a missing name' {
        Get-VM nope -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Get-VM' '-Name without wildcard') @{ name = 'nope' }
        $seen[0].CategoryInfo.TargetName | Should -Be 'nope'
        $seen[0].CategoryInfo.TargetType | Should -Be 'String'
    }

    It 'Get-VM of a missing id' {
        Get-VM -Id ([Guid]::NewGuid()) -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Get-VM' '-Id not found')
    }

    It 'a missing name in other cmdlets' {
        Set-VMFirmware nope -EnableSecureBoot Off -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Set-VMFirmware' 'VM not found') @{ name = 'nope' }
        Remove-VM nope -Force -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Remove-VM' '-Name not found') @{ name = 'nope' }
        $seen[0].CategoryInfo.TargetName | Should -Be ''
    }

    It 'rights that are missing' {
        Set-Faults @{ permission = 'denied' }
        Get-VM -ErrorVariable seen -ErrorAction SilentlyContinue
        Set-Faults @{}
        Assert-Same $seen[0] (Find-Observed 'Get-VM' 'lacks rights') @{ HOST = 'SIMHOST' }
    }

    It 'a stopped service' {
        Set-Faults @{ service = 'stopped' }
        Get-VM -ErrorVariable seen -ErrorAction SilentlyContinue
        Set-Faults @{}
        $seen[0].Exception.Message | Should -Be (Find-Observed 'Get-VM and any other' 'vmms stopped').message.Replace('<HOST>', 'SIMHOST')
        "$($seen[0].CategoryInfo.Category)" | Should -Be 'ObjectNotFound'
    }

    It 'too little memory' {
        Set-VMMemory web -StartupBytes 1TB
        Start-VM web -ErrorVariable seen -ErrorAction SilentlyContinue
        Set-VMMemory web -StartupBytes 512MB
        Assert-Same $seen[0] (Find-Observed 'Start-VM' '0x8007000E')
        ($seen[0].Exception.Message -split "`n")[3] | Should -Be "'web' failed to start. (Virtual machine ID $upper)"
    }

    It 'checkpoints that are disabled' {
        Set-VM web -CheckpointType Disabled
        Checkpoint-VM web -ErrorVariable seen -ErrorAction SilentlyContinue
        Set-VM web -CheckpointType Production
        Assert-Same $seen[0] (Find-Observed 'Checkpoint-VM' 'CheckpointType Disabled') @{ vm = 'web'; 'GUID UPPER' = $upper }
        $seen[0].FullyQualifiedErrorId | Should -Be (Find-Observed 'Checkpoint-VM' 'generic').fqid
    }

    It 'a disk that exists, a parent that is missing, an unreadable file' {
        $path = Join-Path $world 'disks/a.vhdx'
        New-VHD $path -SizeBytes 1GB | Out-Null
        New-VHD $path -SizeBytes 1GB -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'New-VHD' 'file exists') @{ path = $path }
        New-VHD (Join-Path $world 'disks/b.vhdx') -ParentPath (Join-Path $world 'disks/none.vhdx') -Differencing -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'New-VHD -Differencing' 'parent missing')
        [IO.File]::WriteAllText((Join-Path $world 'disks/bad.vhdx'), 'not a disk')
        Get-VHD (Join-Path $world 'disks/bad.vhdx') -ErrorVariable seen -ErrorAction SilentlyContinue
        $seen[0].FullyQualifiedErrorId | Should -Be (Find-Observed 'Get-VHD' 'unreadable').fqid
        Set-Faults @{ locked_disks = @(@{ path = $path }) }
        Get-VHD $path -ErrorVariable seen -ErrorAction SilentlyContinue
        Set-Faults @{}
        Assert-Same $seen[0] (Find-Observed 'Get-VHD' 'file in use')
    }

    It 'the template after the TPM' {
        Set-VMKeyProtector web -NewLocalKeyProtector
        Enable-VMTPM web
        Set-VMFirmware web -SecureBootTemplate MicrosoftWindows -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'SecureBootTemplate' 'vTPM')
    }

    It 'switches: missing, built-in, in use, nothing to set' {
        Get-VMSwitch -Name nope -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Get-VMSwitch' 'not found')
        Connect-VMNetworkAdapter -VMName web -SwitchName nope -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Connect-VMNetworkAdapter' 'switch not found')
        Remove-VMSwitch 'Default Switch' -Force -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Remove-VMSwitch' 'built-in')
        New-VMSwitch lab -SwitchType Internal | Out-Null
        Connect-VMNetworkAdapter -VMName web -SwitchName lab
        Start-VM web
        Remove-VMSwitch lab -Force -ErrorVariable seen -ErrorAction SilentlyContinue
        Stop-VM web -TurnOff
        $seen[0].FullyQualifiedErrorId | Should -Be 'ObjectInUse,Microsoft.HyperV.PowerShell.Commands.RemoveVMSwitch'
        $seen[0].Exception.Message | Should -Be (Find-Observed 'Remove-VMSwitch' 'running VM').message.Replace('<name>', 'lab')
        Set-VMSwitch lab -ErrorVariable seen -ErrorAction SilentlyContinue
        $seen[0].Exception.Message | Should -BeLike "$((Find-Observed 'Set-VMSwitch -Name' 'nothing').message)*"
    }

    It 'a GPU adapter that is missing' {
        Set-VMGpuPartitionAdapter web -MinPartitionVRAM 1 -ErrorVariable seen -ErrorAction SilentlyContinue
        Assert-Same $seen[0] (Find-Observed 'Set-VMGpuPartitionAdapter' 'no adapter')
    }

    It 'a wrong state' {
        Start-VM web
        Remove-VM web -Force -ErrorVariable seen -ErrorAction SilentlyContinue
        Stop-VM web -TurnOff
        $seen[0].FullyQualifiedErrorId | Should -Be 'InvalidState,Microsoft.HyperV.PowerShell.Commands.RemoveVM'
        $seen[0].Exception.Message | Should -Be (Find-Observed 'any config change' '').message
    }

    It 'a prompt that cannot be shown' {
        Set-VM web -Notes x
        $script = "Set-Item Env:HVLAB_HYPERV_SIM '$world'; Import-Module '$simulationRoot/modules/Hyper-V/Hyper-V.psd1'; Start-VM web; Stop-VM web -Confirm:`$false -ErrorVariable e -ErrorAction SilentlyContinue; `$e[0].FullyQualifiedErrorId; (Get-VM web).State; Stop-VM web -TurnOff"
        $lines = & $shell -NoProfile -NonInteractive -Command $script
        $lines[0] | Should -Be (Find-Observed 'Stop-VM' 'NonInteractive').fqid
        $lines[1] | Should -Be 'Running'
    }

    It 'an import that meets its own id' {
        Export-VM web -Path (Join-Path $world 'out')
        Import-VM -Path (Get-ChildItem (Join-Path $world 'out/web/Virtual Machines/*.vmcx')).FullName -ErrorVariable seen -ErrorAction SilentlyContinue
        $seen[0].Exception.Message | Should -Be (Find-Observed 'Import-VM' 'module 2.0').message
        Export-VM web -Path (Join-Path $world 'out') -ErrorVariable seen -ErrorAction SilentlyContinue
        $seen[0].FullyQualifiedErrorId | Should -Be (Find-Observed 'Export-VM' 'exists').fqid
        $seen[0].Exception.Message | Should -BeLike '*(0x80070050)*'
    }
}
