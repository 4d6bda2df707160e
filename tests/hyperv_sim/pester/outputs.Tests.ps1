# Objects look and serialize as the outputs of real hosts.

BeforeDiscovery { . "$PSScriptRoot/support.ps1" }

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    Import-Module "$simulationRoot/modules/Hyper-V/Hyper-V.psd1" -Force
    $world = New-World
    $machine = New-VM -Name 'vm-a' -Generation 2 -NewVHDPath 'vm-a.vhdx' -NewVHDSizeBytes 32GB
    function Get-ListNames([string] $file) { [IO.File]::ReadAllLines((Join-Path $sharedFacts "outputs/$file")) | ForEach-Object { if ($_ -match '^(\w+) +:') { $Matches[1] } } }
}

AfterAll { Remove-World $world }

Describe 'Real outputs' -Skip:(-not $hasFacts) {
    It 'a virtual machine has the real type names, text and first members' {
        $facts = Read-Facts 'outputs/vm-type-chain.json'
        $machine.PSTypeNames -join ' ' | Should -Be ($facts.type -join ' ')
        "$machine" | Should -Be "VirtualMachine (Name = 'vm-a') [Id = '$($machine.Id)']"
        "$($machine.NetworkAdapters[0])" | Should -Be "VMNetworkAdapter (Name = 'Network Adapter', VMName = 'vm-a') [VMId = '$($machine.Id)']"
        foreach ($member in $facts.first_props | Where-Object { $_[1] -eq 'enum' }) {
            "$($machine.($member[0]))" | Should -Be $member[2]
            [int] $machine.($member[0]) | Should -Be $member[3]
        }
    }

    It 'Select-Object * shows the aliases, ConvertTo-Json the members and integers for enumerations' {
        $facts = Read-Facts 'outputs/get-vm-json-shape-ps51.json'
        $json = $machine | Select-Object -Property @($facts.shape.Keys) | ConvertTo-Json -Depth 1 -WarningAction SilentlyContinue | ConvertFrom-Json -AsHashtable
        foreach ($name in $facts.shape.Keys) {
            $json.ContainsKey($name) | Should -BeTrue -Because $name
            $machine.PSObject.Properties[$name] | Should -Not -BeNullOrEmpty -Because $name
            if ($facts.shape[$name] -eq 'int') { $json[$name] | Should -BeOfType [long] -Because $name }
        }
        foreach ($alias in 'VMName', 'VMId', 'CheckpointFileLocation', 'ParentCheckpointId', 'ParentCheckpointName') { "$($machine.PSObject.Properties[$alias].MemberType)" | Should -Be 'AliasProperty' }
    }

    It 'CLIXML carries the state with its type names and integer' {
        $text = [Management.Automation.PSSerializer]::Serialize(($machine | Select-Object VMId, VMName, State))
        foreach ($line in '<T>Microsoft.HyperV.PowerShell.VMState</T>', '<ToString>Off</ToString>', '<I32>3</I32>') { $text | Should -BeLike "*$line*" }
    }

    It 'a new dynamic disk has the real members, order and values' {
        $facts = Read-Facts 'outputs/new-vhd-dynamic-vhdx-32g.json'
        $disk = Get-VHD -VMId $machine.Id
        $found = @($disk.PSObject.Properties | Where-Object MemberType -eq Property | ForEach-Object Name)
        $found + 'Number' -join ' ' | Should -Be (($facts.properties_in_order | ForEach-Object { $_[0] }) -join ' ')
        foreach ($pair in $facts.properties_in_order) {
            if ($pair[0] -in 'ComputerName', 'Path', 'DiskIdentifier') { continue }
            "$($disk.($pair[0]))" | Should -Be "$($pair[1])" -Because $pair[0]
        }
    }

    It 'a fixed disk is its size and a footer' {
        $facts = Read-Facts 'outputs/get-vhd-fixed-vhd-64g.json'
        $disk = New-VHD (Join-Path $world 'disks/fixed.vhd') -SizeBytes 64GB -Fixed
        foreach ($pair in $facts.properties_in_order) {
            if ($pair[0] -in 'ComputerName', 'Path', 'DiskIdentifier', 'MinimumSize') { continue }
            "$($disk.($pair[0]))" | Should -Be "$($pair[1])" -Because $pair[0]
        }
    }

    It 'processor, switch and VLAN views have the real members in order' {
        $cases = @(
            @{ File = 'get-vmprocessor-fl.txt'; Value = Get-VMProcessor vm-a }
            @{ File = 'get-vmswitch-external-fl.txt'; Value = Get-VMSwitch 'Default Switch' }
            @{ File = 'get-vmnetworkadaptervlan-access-fl.txt'; Value = Get-VMNetworkAdapterVlan vm-a }
        )
        foreach ($case in $cases) {
            $found = @($case.Value.PSObject.Properties | Where-Object MemberType -ne AliasProperty | ForEach-Object Name)
            $aliases = @($case.Value.PSObject.Properties | Where-Object MemberType -eq AliasProperty | ForEach-Object Name)
            $wanted = @(Get-ListNames $case.File | Where-Object { $aliases -notcontains $_ })
            $found -join ' ' | Should -Be ($wanted -join ' ') -Because $case.File
        }
        (Get-VMProcessor vm-a).Id | Should -BeLike "Microsoft:$("$($machine.Id)".ToUpperInvariant())\*"
    }

    It 'the default table has the real columns' {
        $wanted = [IO.File]::ReadAllLines((Join-Path $sharedFacts 'outputs/get-vm-default-table.txt'))[0] -split ' +'
        $header = (Get-VM vm-a | Format-Table | Out-String -Width 200).Trim() -split "`n" | Select-Object -First 1
        ($header -replace '\e\[[\d;]*m').Trim() -split ' +' -join ' ' | Should -Be ($wanted -join ' ')
    }

    It 'services without a guest: enabled ones have no contact, the disabled one says OK' {
        $services = Get-VMIntegrationService vm-a
        @($services).Count | Should -Be 6
        ($services | Where-Object Name -eq 'Guest Service Interface').Enabled | Should -BeFalse
        ($services | Where-Object Name -eq 'Guest Service Interface').PrimaryStatusDescription | Should -Be 'OK'
        ($services | Where-Object Name -eq 'Heartbeat').PrimaryStatusDescription | Should -Be 'No Contact'
    }

    It 'thumbnails answer as on a real host' {
        Import-Module "$simulationRoot/modules/CimCmdlets/CimCmdlets.psd1"
        $facts = Read-Facts 'outputs/wmi-thumbnail-observed.json'
        $service = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_VirtualSystemManagementService
        $setting = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_VirtualSystemSettingData -Filter "VirtualSystemIdentifier='$($machine.Id)'"
        function Get-Picture($width, $height) { Invoke-CimMethod -InputObject $service -MethodName GetVirtualSystemThumbnailImage -Arguments @{ TargetSystem = $setting; WidthPixels = [uint16] $width; HeightPixels = [uint16] $height } }
        (Get-Picture 320 240).ReturnValue | Should -Be $facts.off_vm
        Start-VM vm-a
        foreach ($call in $facts.calls) {
            $result = Get-Picture $call[0] $call[1]
            $result.ReturnValue | Should -Be $call[2] -Because "$($call[0])x$($call[1])"
            if ($call[3]) { $result.ImageData.Length | Should -Be $call[3] }
        }
        (Get-Picture 320 240).ImageData[0..3] -join ' ' | Should -Be '0 2 88 4'
        Stop-VM vm-a -TurnOff
    }

    It 'keyboard and mouse answer as on a machine without a system' {
        $facts = Read-Facts 'outputs/wmi-input-observed.json'
        $quiet = New-World @{ host = @{ GuestOs = 'none' } }
        $bare = New-VM bare -Generation 2
        Start-VM bare
        $keyboard = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_Keyboard -Filter "SystemName='$($bare.Id)'"
        (Invoke-CimMethod $keyboard -MethodName TypeText -Arguments @{ asciiText = 'hostadmin' }).ReturnValue | Should -Be $facts.keyboard[0][1]
        [void] (Invoke-CimMethod $keyboard -MethodName PressKey -Arguments @{ keyCode = [uint32] 16 })
        (Invoke-CimMethod $keyboard -MethodName IsKeyPressed -Arguments @{ keyCode = [uint32] 16 }).KeyState | Should -BeTrue
        $mouse = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_SyntheticMouse -Filter "SystemName='$($bare.Id)'"
        (Invoke-CimMethod $mouse -MethodName SetAbsolutePosition -Arguments @{ horizontalPosition = 1; verticalPosition = 1 }).ReturnValue | Should -Be $facts.mouse[0][1]
        @(Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_Ps2Mouse).Count | Should -Be 0
        Remove-World $quiet
        $env:HVLAB_HYPERV_SIM = $world
    }

    It 'only a machine of generation 1 has a mouse that moves, and needs no driver for it' {
        $quiet = New-World @{ host = @{ GuestOs = 'none' } }
        $old = New-VM old -Generation 1
        Start-VM old
        $mouse = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_Ps2Mouse -Filter "SystemName='$($old.Id)'"
        (Invoke-CimMethod $mouse -MethodName SetRelativePosition -Arguments @{ horizontalDelta = [sbyte] 5; verticalDelta = [sbyte] -5 }).ReturnValue | Should -Be 0
        (Invoke-CimMethod $mouse -MethodName SetButtonState -Arguments @{ buttonIndex = [uint32] 1; buttonState = $true }).ReturnValue | Should -Be 0
        Remove-World $quiet
        $env:HVLAB_HYPERV_SIM = $world
    }

    It 'guest facts are embedded instances of the real shape' {
        Start-VM vm-a
        Wait-VM vm-a -For Heartbeat -Timeout 10
        $component = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_KvpExchangeComponent -Filter "SystemName='$($machine.Id)'"
        $found = [xml] $component.GuestIntrinsicExchangeItems[0]
        $wanted = [xml] [IO.File]::ReadAllText((Join-Path $sharedFacts 'wmi/kvp-intrinsic-item.xml'))
        $found.INSTANCE.CLASSNAME | Should -Be $wanted.INSTANCE.CLASSNAME
        $found.INSTANCE.PROPERTY.NAME -join ' ' | Should -Be ($wanted.INSTANCE.PROPERTY.NAME -join ' ')
        $found.INSTANCE.PROPERTY.TYPE -join ' ' | Should -Be ($wanted.INSTANCE.PROPERTY.TYPE -join ' ')
        Stop-VM vm-a -TurnOff
    }
}
