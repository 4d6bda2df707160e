# hvlab's own operations, called as the sidecar calls them, on a simulated host. Keeps to Windows PowerShell 5.1.

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    $operations = [IO.Path]::GetFullPath("$simulationRoot/../../src/drivers/hyperv/ps")
    $parts = 'library', 'rights', 'machines', 'creation', 'disks', 'copies', 'removal', 'settings', 'checkpoints', 'host', 'report'
    foreach ($part in $parts) { . "$operations/$part.ps1" }
    $folder = New-World
    # The sidecar hands its runspaces what they share.
    $global:HvlabShared = @{ Server = @{}; Tied = @{}; Restored = @(); Imported = 1; Sessions = @{}; Turns = @{} }
    Import-Module "$simulationRoot/modules/CimCmdlets/CimCmdlets.psd1"
    $ErrorActionPreference = 'Stop'

    # Makes a machine as the driver does; what is not given is as small as can be.
    function New-Lab([string] $name, [hashtable] $given = @{}) {
        $key = 'hvlab-' + [Guid]::NewGuid()
        $making = @{
            passing = $key; name = $name; generation = 2; memory_bytes = '67108864'; cpus = 1
            notes = "[hvlab;key=$key;making=yes;]"; final_notes = "[hvlab;key=$key;]"
            disk_bytes = '67108864'; disk = $null; parent_disk = $null; iso = $null; switch = $null; network = $false; secure_boot = $null; tpm = $false
        }
        foreach ($field in $given.Keys) { $making[$field] = $given[$field] }
        $machine = (New-Machine @making).machine
        @{ id = $machine.id; key = $key; machine = $machine }
    }

    # The code and the facts of ours that a call fails with.
    function Get-Failure([scriptblock] $call) {
        try { [void] (& $call) }
        catch {
            $facts = Get-FailureFacts $_
            $cause = Get-FailureCause $_
            if ($cause) { $facts.ours = $cause }
            return $facts
        }
        throw 'the call was expected to fail'
    }
}

AfterAll {
    Remove-World $folder
    $global:HvlabShared = $null
}

Describe 'making and removing' {
    It 'makes what it is asked for, off, under its own name' {
        $lab = New-Lab "it's [a] `$(throw) name" @{ cpus = 2 }
        $lab.machine.name | Should -BeExactly "it's [a] `$(throw) name"
        $lab.machine.state | Should -Be 'Off'
        $lab.machine.cpus | Should -Be 2
        $lab.machine.memory_startup | Should -BeExactly '67108864'
        [IO.Path]::GetFileName($lab.machine.path) | Should -Be $lab.key
        [void] (Remove-Machine $lab.id $lab.key $false $false)
    }

    It 'keeps the disks of a machine of which it cannot tell whether it is gone' {
        $lab = New-Lab 'web'
        $disk = @(Get-DiskPaths (Find-Machine $lab.id))[0]
        function Test-Gone { throw 'nothing can be seen' }
        (Get-Failure { Remove-Machine $lab.id $lab.key $false $false }).message | Should -Be 'nothing can be seen'
        [IO.File]::Exists($disk) | Should -BeTrue
        Remove-Item Function:Test-Gone
        (Remove-Unfinished $lab.key).left | Should -BeNullOrEmpty
    }

    It 'takes nothing away that a failed making left while machines cannot be seen' {
        $lab = New-Lab 'web'
        $disk = @(Get-DiskPaths (Find-Machine $lab.id))[0]
        Set-Faults @{ permission = 'empty' }
        (Get-Failure { Remove-Unfinished $lab.key }).ours.code | Should -Be 'hv.permission'
        [IO.File]::Exists($disk) | Should -BeTrue
        Set-Faults @{}
        (Remove-Unfinished $lab.key).left | Should -BeNullOrEmpty
        [IO.File]::Exists($disk) | Should -BeFalse
    }

    It 'makes generation 1 with a disc, and generation 2 with a TPM' {
        $disc = [IO.Path]::Combine($folder, 'a.iso')
        [IO.File]::WriteAllText($disc, '')
        $old = New-Lab 'old' @{ generation = 1; iso = $disc }
        $old.machine.generation | Should -Be 1
        @(Get-VMDvdDrive -VM (Find-Machine $old.id))[0].Path | Should -Be $disc
        $new = New-Lab 'new' @{ tpm = $true }
        (Get-MachineSettings $new.id).settings.tpm | Should -BeTrue
        [void] (Remove-Machine $old.id $old.key $false $false)
        [void] (Remove-Machine $new.id $new.key $false $false)
    }

    It 'takes back exactly what a making has made' {
        $kept = New-Lab 'kept'
        Set-Faults @{ rules = @(@{ cmdlet = 'Set-VMProcessor'; do = 'fail'; times = 1 }) }
        $key = 'hvlab-' + [Guid]::NewGuid()
        { New-Lab 'broken' @{ passing = $key; notes = "[hvlab;key=$key;making=yes;]" } } | Should -Throw
        Set-Faults @{}
        (Remove-Unfinished $key).left | Should -BeNullOrEmpty
        (Remove-Unfinished $key).left | Should -BeNullOrEmpty
        @(Get-Machines).machines.name | Should -Be 'kept'
        [IO.Directory]::Exists([IO.Path]::Combine((Get-MachinesFolder), $key)) | Should -BeFalse
        [void] (Remove-Machine $kept.id $kept.key $false $false)
    }

    It 'refuses while a disk of another machine hangs on its own, and leaves folders that are not its own' {
        $base = New-Lab 'base'
        $disk = (Get-MachineDisks $base.id $base.key).disks[0].path
        $child = New-Lab 'child' @{ disk_bytes = $null; parent_disk = $disk }
        $failure = Get-Failure { Remove-Machine $base.id $base.key $false $false }
        $failure.ours.code | Should -Be 'hv.conflict'
        $failure.ours.facts.dependants[0].name | Should -Be 'child'
        (Remove-Machine $child.id $base.key $false $true).files | Should -BeNullOrEmpty
        [IO.File]::Exists($disk) | Should -BeTrue
        (Remove-Machine $base.id $base.key $false $false).files | Should -Contain $disk
        [IO.Directory]::Exists([IO.Path]::GetDirectoryName([IO.Path]::GetDirectoryName($disk))) | Should -BeFalse
    }

    It 'removes no folder outside, none with another name, and none that was kept' {
        $root = Get-MachinesFolder
        foreach ($path in "$root/mine", "$root/hvlab-1", "$root/../hvlab-$([Guid]::NewGuid())") {
            [void] [IO.Directory]::CreateDirectory($path)
            [void] (Remove-OwnFolder $path)
            [IO.Directory]::Exists($path) | Should -BeTrue
        }
        $kept = [IO.Path]::Combine($root, 'hvlab-' + [Guid]::NewGuid())
        [void] [IO.Directory]::CreateDirectory($kept)
        [IO.File]::WriteAllText([IO.Path]::Combine($kept, 'kept.txt'), '')
        (Remove-StrayFolder ([IO.Path]::GetFileName($kept))).removed | Should -BeFalse
        @((Get-OwnFolders).folders | ForEach-Object { $_.path }) | Should -Not -Contain $kept
    }
}

Describe 'power' {
    BeforeAll { $lab = New-Lab 'power' }
    AfterAll { [void] (Remove-Machine $lab.id $lab.key $false $false) }

    It 'goes where it is told, and says where it is' {
        (Start-Machine $lab.id).machine.state | Should -Be 'Running'
        (Suspend-Machine $lab.id).machine.state | Should -Be 'Paused'
        (Resume-Machine $lab.id).machine.state | Should -Be 'Running'
        (Stop-Machine $lab.id 'save').machine.state | Should -Be 'Saved'
        (Resume-Machine $lab.id).machine.state | Should -Be 'Running'
        (Stop-Machine $lab.id 'off').machine.state | Should -Be 'Off'
        (Stop-Machine $lab.id 'off').machine.state | Should -Be 'Off'
        $failure = Get-Failure { Suspend-Machine $lab.id }
        $failure.ours.code | Should -Be 'hv.conflict'
        $failure.ours.facts.wanted | Should -Be 'running'
    }

    It 'judges by the effect: a vanished job is none, a success without effect is a failure' {
        Set-Faults @{ rules = @(@{ cmdlet = 'Start-VM'; do = 'vanish'; times = 1 }) }
        (Start-Machine $lab.id).machine.state | Should -Be 'Running'
        Set-Faults @{}
        [void] (Stop-Machine $lab.id 'off')
        (Get-Failure { Invoke-StateChange $lab.id 'Running' { } }).ours.code | Should -Be 'hv.job_failed'
    }
}

Describe 'settings' {
    It 'says what a change had done when it broke off' {
        $lab = New-Lab 'settings'
        Set-Faults @{ rules = @(@{ cmdlet = 'Set-VMProcessor'; do = 'fail'; times = 1; message = 'no nested' }) }
        $failure = Get-Failure { Set-MachineSettings $lab.id -secure_boot 'linux' -nested $true -tpm $true }
        Set-Faults @{}
        $failure.applied | Should -Be 'secure_boot'
        $settings = (Get-MachineSettings $lab.id).settings
        $settings.template | Should -Be 'MicrosoftUEFICertificateAuthority'
        $settings.tpm | Should -BeFalse
        [void] (Remove-Machine $lab.id $lab.key $false $false)
    }

    It 'keeps a key protector that is there' {
        $lab = New-Lab 'protector' @{ tpm = $true }
        [void] (Set-MachineSettings $lab.id -tpm $false)
        [void] (Set-MachineSettings $lab.id -tpm $true)
        (Get-Content -Raw ([IO.Path]::Combine($folder, 'effects.json')) | ConvertFrom-Json).'Set-VMKeyProtector'.($lab.id) | Should -Be 1
        [void] (Remove-Machine $lab.id $lab.key $false $false)
    }

    It 'puts the wanted kinds first and passes all others back' {
        $lab = New-Lab 'boot' @{ network = $true }
        Add-VMHardDiskDrive -VM (Find-Machine $lab.id)
        [void] (Set-MachineSettings $lab.id -boot @('disk'))
        $entries = @(Get-BootEntries (Find-Machine $lab.id) | ForEach-Object { $_.kind })
        $entries[0] | Should -Be 'disk'
        $entries | Should -Contain 'network'
        [void] (Remove-Machine $lab.id $lab.key $false $false)
    }
}

Describe 'checkpoints' {
    BeforeAll { $lab = New-Lab 'points' }
    AfterAll { [void] (Remove-Machine $lab.id $lab.key $false $false) }

    It 'takes the wanted kind, puts the usual one back, and believes only a new id' {
        [void] (Start-Machine $lab.id)
        Set-VM -VM (Find-Machine $lab.id) -CheckpointType ProductionOnly
        $made = (New-Checkpoint $lab.id 'clean' $true).checkpoint
        $made.memory_state | Should -BeTrue
        [string] (Find-Machine $lab.id).CheckpointType | Should -Be 'ProductionOnly'
        Set-Faults @{ rules = @(@{ cmdlet = 'Checkpoint-VM'; do = 'fail_job'; times = 1 }) }
        [void] (Get-Failure { New-Checkpoint $lab.id 'other' $true })
        Set-Faults @{}
        [string] (Find-Machine $lab.id).CheckpointType | Should -Be 'ProductionOnly'
        @((Get-Checkpoints $lab.id).checkpoints).name | Should -Be 'clean'
        (Get-Failure { New-Checkpoint $lab.id 'clean' $true }).ours.code | Should -Be 'hv.conflict'
    }

    It 'starts a machine whose memory came back, and waits for the merge of one that goes' {
        $point = @((Get-Checkpoints $lab.id).checkpoints)[0].id
        (Restore-Checkpoint $lab.id $point).machine.state | Should -Be 'Running'
        Set-Faults @{ merge_seconds = 1 }
        (Test-Busy (Find-Machine $lab.id)) | Should -BeFalse
        [void] (Remove-Checkpoint $lab.id $point)
        (Test-Busy (Find-Machine $lab.id)) | Should -BeFalse
        Set-Faults @{}
        (Get-Failure { Remove-Checkpoint $lab.id $point }).ours.code | Should -Be 'hv.not_found'
    }
}

Describe 'copies' {
    It 'gives a clone an id, a name and disks of its own, and nothing of its making' {
        $lab = New-Lab 'original'
        Set-VM -VM (Find-Machine $lab.id) -Notes "[hvlab;key=$($lab.key);] mine"
        [void] (New-Checkpoint $lab.id 'clean' $false)
        $key = 'hvlab-' + [Guid]::NewGuid()
        $copy = (Copy-Machine $lab.id $key 'copy' "[hvlab;key=$key;making=yes;]" "[hvlab;key=$key;]").machine
        $copy.id | Should -Not -Be $lab.id
        $copy.notes | Should -BeExactly "[hvlab;key=$key;] mine"
        (Get-Checkpoints $copy.id).checkpoints | Should -BeNullOrEmpty
        @((Get-MachineDisks $copy.id $key).disks | Where-Object { -not $_.own }) | Should -BeNullOrEmpty
        [IO.Directory]::Exists([IO.Path]::Combine((Get-MachinesFolder), $key, 'export')) | Should -BeFalse
        [void] (Remove-Machine $lab.id $lab.key $false $false)
        (Start-Machine $copy.id).machine.state | Should -Be 'Running'
        [void] (Remove-Machine $copy.id $key $false $false)
    }

    It 'refuses a folder with no machine or with two' {
        $empty = [IO.Path]::Combine($folder, 'empty')
        [void] [IO.Directory]::CreateDirectory($empty)
        (Get-Failure { Find-Configuration $empty }).ours.code | Should -Be 'hv.bad_image'
    }
}

Describe 'sight' {
    AfterEach { Set-Faults @{} }

    It 'tells <permission> from an empty host' -ForEach @{ permission = 'denied' }, @{ permission = 'stale' }, @{ permission = 'empty' } {
        Set-Faults @{ permission = $permission }
        (Get-Failure { Get-Machines }).ours.code | Should -Be 'hv.permission'
        (Get-Failure { Find-Machine ([string] [Guid]::NewGuid()) }).ours.code | Should -Be 'hv.permission'
    }

    It 'tells a service that does not run from an empty host' {
        Set-Faults @{ service = 'stopped' }
        (Get-Failure { Get-Machines }).ours.code | Should -Be 'hv.unavailable'
    }

    It 'believes an empty host that it may see' {
        (Get-Machines).machines | Should -BeNullOrEmpty
        (Get-Failure { Get-Machine ([string] [Guid]::NewGuid()) }).ours.code | Should -Be 'hv.not_found'
    }

    It 'reports each fact by itself' {
        $report = Get-HostReport
        $report.errors.all.failed | Should -BeFalse
        $report.errors.missing_id.id | Should -BeLike 'ObjectNotFound,*'
        $report.types.VMState.enumeration.Running | Should -Be '2'
        $report.cmdlets.'Restore-VMSnapshot'.confirm_impact | Should -Be 'High'
        Set-Faults @{ permission = 'denied' }
        (Get-HostReport).errors.all.failed | Should -BeTrue
    }

    It 'puts no name and no path into the report, whatever fails' {
        Set-Faults @{}
        $lab = New-Lab 'a secret name'
        [void] (Start-Machine $lab.id)
        $disk = @(Get-DiskPaths (Find-Machine $lab.id))[0]
        foreach ($faults in @{ locked_disks = @(@{ path = $disk }) }, @{ permission = 'denied' }) {
            Set-Faults $faults
            $text = ConvertTo-Json -InputObject (Get-HostReport) -Depth 12
            foreach ($name in 'a secret name', $lab.key, 'SIMHOST') { $text.Contains($name) | Should -BeFalse -Because $name }
        }
        Set-Faults @{}
        [void] (Remove-Machine $lab.id $lab.key $false $false)
    }
}
