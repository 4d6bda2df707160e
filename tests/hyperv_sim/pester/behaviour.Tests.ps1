# The world behind the cmdlets: life of a machine, checkpoints, disks, networks.

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    Import-Module "$simulationRoot/modules/Hyper-V/Hyper-V.psd1" -Force
}

Describe 'A new world' {
    BeforeAll { $world = New-World }
    AfterAll { Remove-World $world }

    It 'has a simulated host with the built-in switch and no machine' {
        (Get-VMHost).IsSimulated | Should -BeTrue
        (Get-VMSwitch -Id c08cb7b8-9b3c-408e-8e30-5e16a3aeb444).Name | Should -Be 'Default Switch'
        Get-VM | Should -BeNullOrEmpty
        (Get-Module Hyper-V).PrivateData.HvlabSimulation | Should -BeTrue
    }

    It 'keeps odd names byte for byte' {
        $names = "bob's vm (x86) & co", '$(throw 1)', 'end`', ([char[]] (0x442, 0x435, 0x2013, 0x2018, 0x201C, 0xD83D, 0xDE00) -join '')
        foreach ($name in $names) { (New-VM -Name $name).Name | Should -BeExactly $name }
        New-VM -Name '"; exit 3; "' -ErrorVariable seen -ErrorAction SilentlyContinue | Should -BeNullOrEmpty
        $seen[0].FullyQualifiedErrorId | Should -Be 'Unspecified,Microsoft.HyperV.PowerShell.Commands.NewVM'
    }

    It 'takes a name twice, and then gives both' {
        New-VM twin | Out-Null
        New-VM twin | Out-Null
        @(Get-VM twin).Count | Should -Be 2
        @(Get-VM twin | ForEach-Object Id | Sort-Object -Unique).Count | Should -Be 2
    }

    It 'gives Generation 1 an empty DVD drive and no firmware, Generation 2 a SCSI controller and no BIOS' {
        New-VM old -Generation 1 | Out-Null
        New-VM new -Generation 2 | Out-Null
        (Get-VMDvdDrive old).Path | Should -Be ''
        Get-VMFirmware old -ErrorAction SilentlyContinue | Should -BeNullOrEmpty
        Get-VMBios new -ErrorAction SilentlyContinue | Should -BeNullOrEmpty
        @(Get-VMScsiController new).Count | Should -Be 1
        "$((Get-VMFirmware new).SecureBoot)" | Should -Be 'On'
    }
}

Describe 'The life of a machine' {
    BeforeAll {
        $world = New-World
        $machine = New-VM web -Generation 2 -SwitchName 'Default Switch' -NewVHDPath web.vhdx -NewVHDSizeBytes 10GB
    }
    AfterAll { Remove-World $world }

    It 'boots within a second, then has a heartbeat and an address' {
        $machine.NetworkAdapters[0].MacAddress | Should -Be '000000000000'
        Start-VM web
        "$($machine.State)" | Should -Be 'Running'
        "$($machine.Heartbeat)" | Should -Be 'NoContact'
        Wait-VM web -For IPAddress -Timeout 5
        "$($machine.Heartbeat)" | Should -Be 'OkApplicationsHealthy'
        $machine.NetworkAdapters[0].IPAddresses[0] | Should -Match '^172\.27\.64\.\d+$'
        $machine.NetworkAdapters[0].MacAddress | Should -Match '^00155D[0-9A-F]{6}$'
    }

    It 'warns, and does nothing, when asked for the state it has' {
        Start-VM web -WarningVariable warnings -WarningAction SilentlyContinue
        "$warnings" | Should -Be 'The virtual machine is already in the specified state.'
        Start-VM web -Passthru -WarningAction SilentlyContinue | Should -Not -BeNullOrEmpty
    }

    It 'pauses, resumes, saves and starts again without a boot' {
        Suspend-VM web
        [int] $machine.State | Should -Be 9
        Resume-VM web
        Save-VM web
        [int] $machine.State | Should -Be 6
        Start-VM web
        "$($machine.Heartbeat)" | Should -Be 'OkApplicationsHealthy'
    }

    It 'loses a saved state on request, and shuts down when WMI asks the guest' {
        Save-VM web
        Remove-VMSavedState web
        "$($machine.State)" | Should -Be 'Off'
        Start-VM web
        Wait-VM web -Timeout 5
        Import-Module "$simulationRoot/modules/CimCmdlets/CimCmdlets.psd1"
        $component = Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ShutdownComponent -Filter "SystemName='$("$($machine.Id)".ToUpperInvariant())'"
        (Invoke-CimMethod -InputObject $component -MethodName InitiateShutdown -Arguments @{ Force = $false; Reason = 'test' }).ReturnValue | Should -Be 0
        $deadline = [DateTime]::UtcNow.AddSeconds(5)
        while ("$($machine.State)" -ne 'Off' -and [DateTime]::UtcNow -lt $deadline) { Start-Sleep -Milliseconds 20 }
        "$($machine.State)" | Should -Be 'Off'
        Start-VM web
        Wait-VM web -Timeout 5
    }

    It 'shuts down through its guest, and -WhatIf changes nothing' {
        Stop-VM web -WhatIf
        "$($machine.State)" | Should -Be 'Running'
        Stop-VM web
        "$($machine.State)" | Should -Be 'Off'
    }

    It 'runs as a job' {
        $job = Start-VM web -AsJob -Passthru
        $result = $job | Wait-Job | Receive-Job
        "$($job.State)" | Should -Be 'Completed'
        $result.Name | Should -Be 'web'
        Remove-Job $job
        Stop-VM web -TurnOff
    }

    It 'changes what Set cmdlets say, and refuses what needs it off' {
        Set-VMProcessor web -Count 4 -ExposeVirtualizationExtensions $true
        Set-VMMemory web -DynamicMemoryEnabled $true -StartupBytes 1GB -MinimumBytes 512MB -MaximumBytes 2GB
        Set-VMComPort web 1 '\\.\pipe\web'
        $machine.ProcessorCount | Should -Be 4
        $machine.MemoryStartup | Should -Be 1GB
        $machine.ComPort1.Path | Should -Be '\\.\pipe\web'
        Set-VMMemory web -StartupBytes 4GB -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'InvalidParameter,*'
        Start-VM web
        Set-VMProcessor web -Count 2 -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'InvalidState,*'
        Stop-VM web -TurnOff
    }

    It 'replaces the whole boot order' {
        Add-VMDvdDrive web
        $firmware = Get-VMFirmware web
        $firmware.BootOrder.BootType -join ' ' | Should -Be 'Network Drive Drive'
        Set-VMFirmware web -FirstBootDevice (Get-VMHardDiskDrive web)
        (Get-VMFirmware web).BootOrder[0].Device.GetType().Name | Should -Be 'HardDiskDrive'
    }

    It 'is removed without its disks' {
        $path = (Get-VMHardDiskDrive web).Path
        Remove-VM web -Force
        Get-VM -Name web -ErrorAction SilentlyContinue | Should -BeNullOrEmpty
        Test-Path -LiteralPath $path | Should -BeTrue
        # PowerShell turns what the getter throws into nothing.
        $machine.State | Should -BeNullOrEmpty
        $machine.IsDeleted | Should -BeTrue
    }
}

Describe 'Checkpoints' {
    BeforeEach {
        $world = New-World
        $machine = New-VM web -Generation 2 -NewVHDPath web.vhdx -NewVHDSizeBytes 10GB
        $base = (Get-VMHardDiskDrive web).Path
    }
    AfterEach { Remove-World $world }

    It 'puts a differencing disk on top, and merges it back' {
        Checkpoint-VM web -SnapshotName one
        $top = (Get-VMHardDiskDrive web).Path
        $top | Should -Match '_[0-9A-F-]{36}\.avhdx$'
        (Get-VHD $top).ParentPath | Should -Be $base
        $machine.ParentSnapshotName | Should -Be 'one'
        Remove-VMSnapshot -VMName web -Name one
        (Get-VMHardDiskDrive web).Path | Should -Be $base
        Test-Path -LiteralPath $top | Should -BeFalse
        Get-VMSnapshot web | Should -BeNullOrEmpty
    }

    It 'makes a tree, and goes back to any point of it' {
        Checkpoint-VM web -SnapshotName one
        Checkpoint-VM web -SnapshotName two
        Restore-VMSnapshot -VMName web -Name one -Confirm:$false
        Checkpoint-VM web -SnapshotName three
        (Get-VMSnapshot web -Name three).ParentSnapshotName | Should -Be 'one'
        @(Get-VMSnapshot -ChildOf (Get-VMSnapshot web -Name one)).Name | Sort-Object | Should -Be 'three', 'two'
        (Get-VMSnapshot -ParentOf $machine).Name | Should -Be 'three'
        Test-VHD (Get-VMHardDiskDrive web).Path | Should -BeTrue
        Remove-VMSnapshot -VMName web -Name one -IncludeAllChildSnapshots
        Get-VMSnapshot web | Should -BeNullOrEmpty
        (Get-VMHardDiskDrive web).Path | Should -Be $base
    }

    It 'keeps memory in a standard checkpoint of a running machine only' {
        Set-VM web -CheckpointType Standard
        Start-VM web
        Checkpoint-VM web -SnapshotName warm
        Set-VM web -CheckpointType Production
        Checkpoint-VM web -SnapshotName cold
        Restore-VMSnapshot -VMName web -Name cold -Confirm:$false
        "$($machine.State)" | Should -Be 'Off'
        Restore-VMSnapshot -VMName web -Name warm -Confirm:$false
        "$($machine.State)" | Should -Be 'Saved'
    }

    It 'asks before a restore' {
        Checkpoint-VM web -SnapshotName one
        $lines = & $shell -NoProfile -NonInteractive -Command "Import-Module '$simulationRoot/modules/Hyper-V/Hyper-V.psd1'; try { Restore-VMSnapshot -VMName web -Name one } catch { `$_.Exception.Message }"
        "$lines" | Should -Match 'NonInteractive'
    }

    It 'is planned once it was compared, and then imported from the report' {
        Export-VM web -Path (Join-Path $world 'compared')
        $path = (Get-ChildItem (Join-Path $world 'compared/web/Virtual Machines/*.vmcx')).FullName
        $disks = Join-Path $world 'compared disks'
        $before = @(Get-VM).Count
        (Compare-VM -Path $path).Incompatibilities.MessageId | Should -Be 40006
        $report = Compare-VM -Path $path -Copy -GenerateNewId -VhdDestinationPath $disks
        $report.Incompatibilities | Should -BeNullOrEmpty
        $report.VM.Name, $report.VM.ProcessorCount | Should -Be 'web', $machine.ProcessorCount
        @(Get-VM).Count | Should -Be $before
        $planned = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_PlannedComputerSystem)
        $planned.Count | Should -Be 2
        $id = $report.VM.Id
        $made = Import-VM -CompatibilityReport $report
        $made.Id | Should -Be $id
        $made.HardDrives[0].Path | Should -BeLike "$disks*"
        { Import-VM -CompatibilityReport $report -ErrorAction Stop } | Should -Throw -ErrorId 'ObjectNotFound,Microsoft.HyperV.PowerShell.Commands.ImportVM'
        $service = Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_VirtualSystemManagementService
        $left = Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_PlannedComputerSystem
        (Invoke-CimMethod -InputObject $service -MethodName DestroySystem -Arguments @{ AffectedSystem = $left }).ReturnValue | Should -Be 0
        Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_PlannedComputerSystem | Should -BeNullOrEmpty
        Remove-VM -VM $made -Force
    }

    It 'goes with an export and comes back with a new id' {
        Checkpoint-VM web -SnapshotName one
        Export-VM web -Path (Join-Path $world 'out')
        $copy = Import-VM -Path (Get-ChildItem (Join-Path $world 'out/web/Virtual Machines/*.vmcx')).FullName -Copy -GenerateNewId -VhdDestinationPath (Join-Path $world 'copies')
        $copy.Id | Should -Not -Be $machine.Id
        @(Get-VMSnapshot -VM $copy).Count | Should -Be 1
        Test-VHD $copy.HardDrives[0].Path | Should -BeTrue
        $copy.HardDrives[0].Path | Should -BeLike "*copies*"
        Start-VM -VM $copy
        "$($copy.State)" | Should -Be 'Running'
    }
}

Describe 'Disks' {
    BeforeAll {
        $world = New-World
        $folder = Join-Path $world 'disks'
    }
    AfterAll { Remove-World $world }

    It 'names a missing parent and an exchanged one' {
        $base = Join-Path $folder 'base.vhdx'
        $child = Join-Path $folder 'child.vhdx'
        New-VHD $base -SizeBytes 1GB | Out-Null
        New-VHD $child -ParentPath $base -Differencing | Out-Null
        Test-VHD $child | Should -BeTrue
        Move-Item $base "$base.away"
        Test-VHD $child -ErrorAction SilentlyContinue -ErrorVariable seen | Should -BeNullOrEmpty
        $seen[0].Exception.Message | Should -BeLike '*(0xC03A000D)*'
        New-VHD $base -SizeBytes 1GB | Out-Null
        Test-VHD $child -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -BeLike '*(0xC03A000E)*'
        New-VM broken -VHDPath $child | Out-Null
        Start-VM broken -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -BeLike "*Attachment '$child' failed to open*(0xC03A000E)*"
        Set-VHD $child -ParentPath $base -IgnoreIdMismatch
        Test-VHD $child | Should -BeTrue
    }

    It 'resizes, converts and merges, but not below a running machine' {
        $path = Join-Path $folder 'work.vhd'
        New-VHD $path -SizeBytes 1GB | Out-Null
        Resize-VHD $path -SizeBytes 2GB
        (Get-VHD $path).Size | Should -Be 2GB
        Resize-VHD $path -SizeBytes 1GB -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -BeLike '*supported only on virtual hard disks that are of VHDX format*'
        Convert-VHD $path -DestinationPath "${path}x" -VHDType Fixed
        "$((Get-VHD "${path}x").VhdType)" | Should -Be 'Fixed'
        New-VM user -VHDPath "${path}x" | Out-Null
        Start-VM user
        Optimize-VHD "${path}x" -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'ObjectInUse,Microsoft.Vhd.PowerShell.Cmdlets.OptimizeVhd'
        (Get-VHD "${path}x").Attached | Should -BeTrue
    }

    It 'takes Windows paths' {
        New-VHD 'C:\vhds\it is here\a.vhdx' -SizeBytes 1GB -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -BeLike '*(0x80070003)*'
        if ([IO.Path]::DirectorySeparatorChar -eq '/') {
            [void] [IO.Directory]::CreateDirectory((Join-Path $world 'drives/C/vhds'))
            (New-VHD 'C:\vhds\a.vhdx' -SizeBytes 1GB).Path | Should -Be 'C:\vhds\a.vhdx'
            (Get-VHD 'C:\vhds\a.vhdx').Size | Should -Be 1GB
        }
    }
}

Describe 'Networks' {
    BeforeAll {
        $world = New-World
        New-VMSwitch lab -SwitchType Private | Out-Null
        New-VM web -SwitchName lab | Out-Null
    }
    AfterAll { Remove-World $world }

    It 'sets VLANs and addresses of adapters' {
        Set-VMNetworkAdapterVlan -VMName web -Access -VlanId 21
        $vlan = Get-VMNetworkAdapterVlan web
        "$($vlan.OperationMode)" | Should -Be 'Access'
        $vlan.AccessVlanId | Should -Be 21
        Set-VMNetworkAdapterVlan -VMName web -Trunk -AllowedVlanIdList '1-3,9' -NativeVlanId 1
        (Get-VMNetworkAdapterVlan web).AllowedVlanIdList -join ' ' | Should -Be '1 2 3 9'
        Set-VMNetworkAdapter -VMName web -StaticMacAddress '02-aa-bb-cc-dd-0e' -MacAddressSpoofing On
        $adapter = Get-VMNetworkAdapter web
        $adapter.MacAddress | Should -Be '02AABBCCDD0E'
        "$($adapter.MacAddressSpoofing)" | Should -Be 'On'
    }

    It 'adds, connects and removes adapters' {
        Add-VMNetworkAdapter web -Name second
        (Get-VMNetworkAdapter web -Name second).SwitchName | Should -Be ''
        Connect-VMNetworkAdapter -VMName web -Name second -SwitchName lab
        (Get-VMNetworkAdapter web -Name second).SwitchName | Should -Be 'lab'
        Remove-VMNetworkAdapter web -Name second
        @(Get-VMNetworkAdapter web).Count | Should -Be 1
        Remove-VMSwitch lab -Force
        (Get-VMNetworkAdapter web).Connected | Should -BeFalse
    }
}
