# The switches of faults.json, several processes on one world, and the guest end.

BeforeAll {
    . "$PSScriptRoot/support.ps1"
    Import-Module "$simulationRoot/modules/Hyper-V/Hyper-V.psd1" -Force
    function Invoke-Child([string] $Script) { & $shell -NoProfile -NonInteractive -Command "Import-Module '$simulationRoot/modules/Hyper-V/Hyper-V.psd1'; $Script" }
    function Get-Effects([string] $Cmdlet) {
        $effects = Get-Content -Raw (Join-Path $env:HVLAB_HYPERV_SIM 'effects.json') | ConvertFrom-Json -AsHashtable
        ($effects[$Cmdlet].Values | Measure-Object -Sum).Sum
    }
}

Describe 'Faults' {
    BeforeEach {
        $world = New-World
        $machine = New-VM web -Generation 2 -NewVHDPath web.vhdx -NewVHDSizeBytes 1GB
    }
    AfterEach { Remove-World $world }

    It 'shows a transition to others while the host works, and finishes it without the caller' {
        Set-Faults @{ rules = @(@{ cmdlet = 'Start-VM'; do = 'work'; seconds = 1.5; times = 1 }) }
        $job = Start-VM web -AsJob
        $deadline = [DateTime]::UtcNow.AddSeconds(5)
        while ("$($machine.State)" -eq 'Off' -and [DateTime]::UtcNow -lt $deadline) { Start-Sleep -Milliseconds 10 }
        "$($machine.State)" | Should -Be 'Starting'
        $job.StopJob()
        while ("$($machine.State)" -ne 'Running' -and [DateTime]::UtcNow -lt $deadline) { Start-Sleep -Milliseconds 20 }
        "$($machine.State)" | Should -Be 'Running'
    }

    It 'fails a number of times with the given error, then works' {
        Set-Faults @{ rules = @(@{ cmdlet = 'Start-VM'; vm = 'web'; do = 'fail'; id = 'OperationFailed'; message = 'no luck'; times = 1 }) }
        Start-VM web -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'OperationFailed,Microsoft.HyperV.PowerShell.Commands.StartVM'
        $seen[0].Exception.Message | Should -Be 'no luck'
        Start-VM web
        "$($machine.State)" | Should -Be 'Running'
    }

    It 'loses the job after the effect' {
        Set-Faults @{ rules = @(@{ cmdlet = 'Start-VM'; vm = 'web'; do = 'vanish' }) }
        Start-VM web -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'ObjectNotFound,*'
        "$($machine.State)" | Should -Be 'Running'
    }

    It 'dies <When> the effect' -ForEach @(@{ When = 'before'; State = 'Off' }, @{ When = 'during'; State = 'Running' }, @{ When = 'after'; State = 'Running' }) {
        Set-Faults @{ rules = @(@{ cmdlet = 'Start-VM'; vm = 'web'; do = 'die'; when = $When }) }
        Invoke-Child "Start-VM web; 'survived'" 2>$null | Should -BeNullOrEmpty
        "$($machine.State)" | Should -Be $State
    }

    It 'merges for the time that the world says, and shows it' {
        Set-Faults @{ merge_seconds = 1 }
        Checkpoint-VM web -SnapshotName one
        Remove-VMSnapshot -VMName web -Name one
        [int] $machine.SecondaryOperationalStatus | Should -Be 32772
        $machine.Status | Should -Be 'Merging disks'
        Import-Module "$simulationRoot/modules/CimCmdlets/CimCmdlets.psd1"
        $task = Get-CimInstance -Namespace root\virtualization\v2 -ClassName Msvm_ConcreteJob
        $task.JobState | Should -Be 4
        $task.PercentComplete | Should -BeLessThan 100
        Start-VM web -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'InvalidState,*'
        $deadline = [DateTime]::UtcNow.AddSeconds(10)
        while ($machine.Status -ne 'Operating normally' -and [DateTime]::UtcNow -lt $deadline) { Start-Sleep -Milliseconds 50 }
        Start-VM web
        "$($machine.State)" | Should -Be 'Running'
    }

    It 'hides everything from a caller whom the service filters, but not the reason' {
        Set-Faults @{ permission = 'empty' }
        Get-VM | Should -BeNullOrEmpty
        Get-VM -Id $machine.Id -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'ObjectNotFound,*'
        Get-VMHost -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'Unspecified,*'
    }

    It 'speaks the language of its world' {
        $german = New-World @{ host = @{ Language = 'de' } }
        (Get-VMSwitch -Id c08cb7b8-9b3c-408e-8e30-5e16a3aeb444).Name | Should -Be 'Standardswitch'
        $one = New-VM web
        $one.NetworkAdapters[0].Name | Should -Be 'Netzwerkkarte'
        $one.Status | Should -Be 'Normaler Betrieb'
        (Get-VMIntegrationService web).Name | Should -Contain 'Herunterfahren'
        Get-VM nope -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'InvalidParameter,Microsoft.HyperV.PowerShell.Commands.GetVM'
        $seen[0].Exception.Message | Should -Not -Match 'unable'
        Remove-World $german
    }

    It 'makes noise on every stream at import and at each call' {
        Set-Faults @{ import_noise = $true; noise = $true }
        $output = Join-Path $world 'stdout'
        $errors = Join-Path $world 'stderr'
        $script = "Import-Module '$simulationRoot/modules/Hyper-V/Hyper-V.psd1'; 'RESULT ' + (Get-VM).Name"
        Start-Process -FilePath $shell -ArgumentList '-NoProfile', '-NonInteractive', '-Command', "`"$script`"" -RedirectStandardOutput $output -RedirectStandardError $errors -Wait
        $text = [IO.File]::ReadAllText($output)
        foreach ($part in 'RESULT web', 'half a line without an end', 'simulated noise: warning', '"id":1') { $text | Should -BeLike "*$part*" }
        (Get-Item -LiteralPath $errors).Length | Should -BeGreaterThan 200000
    }

    It 'is slow to import when told so' {
        Set-Faults @{ import_seconds = 1.5 }
        $watch = [Diagnostics.Stopwatch]::StartNew()
        Invoke-Child '(Get-VM).Name' | Should -Be 'web'
        $watch.Elapsed.TotalSeconds | Should -BeGreaterThan 1.5
    }

    It 'counts every effect once while several processes change one world' {
        $children = 1..3 | ForEach-Object { Start-Job -ScriptBlock { param($root, $folder)
                $env:HVLAB_HYPERV_SIM = $folder
                Import-Module "$root/modules/Hyper-V/Hyper-V.psd1"
                foreach ($number in 1..5) { New-VM "$PID-$number" | Out-Null; Set-VM "$PID-$number" -Notes 'x' } } -ArgumentList $simulationRoot, $world }
        $children | Wait-Job | Receive-Job
        $children | Remove-Job
        @(Get-VM).Count | Should -Be 16
        Get-Effects 'Set-VM' | Should -Be 15
        @(Get-VM | Where-Object Notes -eq 'x').Count | Should -Be 15
    }
}

Describe 'Other hosts' {
    It 'are not there, and this one has several names' {
        $world = New-World
        foreach ($name in '.', 'localhost', 'SIMHOST') { (Get-VMHost -ComputerName $name).Name | Should -Be 'SIMHOST' }
        Get-VM -ComputerName elsewhere -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'ObjectNotFound,*'
        Set-Faults @{ null_server = $true }
        Get-VM -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -BeLike 'Value cannot be null*'
        Get-VM -ComputerName localhost | Should -BeNullOrEmpty
        Remove-World $world
    }
}

Describe 'PowerShell Direct' {
    BeforeAll {
        $world = New-World
        $machine = New-VM web -Generation 2
        $credential = [Management.Automation.PSCredential]::new('lab', (ConvertTo-SecureString 'lab' -AsPlainText -Force))
        $wrong = [Management.Automation.PSCredential]::new('lab', (ConvertTo-SecureString 'no' -AsPlainText -Force))
    }
    AfterAll {
        Stop-VM web -TurnOff -WarningAction SilentlyContinue
        Remove-World $world
    }

    It 'refuses as the real cmdlets do: missing, off, booting, wrong password' {
        New-PSSession -VMId ([Guid]::NewGuid()) -Credential $credential -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'InvalidVMIdNotSingle,Microsoft.PowerShell.Commands.NewPSSessionCommand'
        Invoke-Command -VMName web -Credential $credential -ScriptBlock { 1 } -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'InvalidVMState,Microsoft.PowerShell.Commands.InvokeCommandCommand'
        Start-VM web
        New-PSSession -VMId $machine.Id -Credential $credential -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'PSSessionOpenFailed,Microsoft.PowerShell.Commands.NewPSSessionCommand'
        Wait-VM web -Timeout 5
        New-PSSession -VMId $machine.Id -Credential $wrong -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].Exception.Message | Should -Be 'The credential is invalid.'
        "$($seen[0].CategoryInfo.Category)" | Should -Be 'OpenError'
        Invoke-Command -VMId $machine.Id -Credential $wrong -ScriptBlock { 1 } -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'PSSessionStateBroken,Microsoft.PowerShell.Commands.InvokeCommandCommand'
    }

    It 'runs payloads in a real child PowerShell that knows whose guest it is' {
        $session = New-PSSession -VMId $machine.Id -Credential $credential
        $local = 'kept'
        Invoke-Command -Session $session -ScriptBlock { "$using:local $PID" } | Should -Not -Be "kept $PID"
        Invoke-Command -Session $session -ScriptBlock { param($a, $b) $a + $b } -ArgumentList 20, 22 | Should -Be 42
        Invoke-Command -Session $session -ScriptBlock { (Get-ItemProperty -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Virtual Machine\Guest\Parameters').VirtualMachineId } | Should -Be "$($machine.Id)".ToUpperInvariant()
        $file = Join-Path $world 'sent.txt'
        [IO.File]::WriteAllText($file, 'content')
        $there = Invoke-Command -Session $session -ScriptBlock { Join-Path $env:TEMP 'received.txt' }
        Copy-Item $file -ToSession $session -Destination $there
        Copy-Item $there -FromSession $session -Destination "$file.back"
        [IO.File]::ReadAllText("$file.back") | Should -Be 'content'
        Invoke-Command -VMName web -Credential $credential -ScriptBlock { 6 * 7 } | Should -Be 42
        Remove-PSSession $session
    }

    It 'breaks when the machine goes off' {
        $session = New-PSSession -VMId $machine.Id -Credential $credential
        Stop-VM web -TurnOff
        Invoke-Command -Session $session -ScriptBlock { 1 } -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'PSSessionStateBroken,Microsoft.PowerShell.Commands.InvokeCommandCommand'
        $deadline = [DateTime]::UtcNow.AddSeconds(20)
        while ("$($session.State)" -eq 'Opened' -and [DateTime]::UtcNow -lt $deadline) { Start-Sleep -Milliseconds 50 }
        "$($session.State)" | Should -BeIn 'Broken', 'Closed'
    }
}

Describe 'NAT and Windows' {
    BeforeAll { $world = New-World }
    AfterAll { Remove-World $world }

    It 'makes networks and forwards with the real errors' {
        Get-NetNat nope -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Get-NetNat'
        New-NetNat lab -InternalIPInterfaceAddressPrefix 10.1.0.0/24 | Out-Null
        $forward = @{ NatName = 'lab'; Protocol = 'TCP'; ExternalIPAddress = '0.0.0.0'; ExternalPort = 2222; InternalIPAddress = '10.1.0.5'; InternalPort = 22 }
        Add-NetNatStaticMapping @forward | Out-Null
        Add-NetNatStaticMapping @forward -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -Be 'Windows System Error 32,Add-NetNatStaticMapping'
        (Get-NetNatStaticMapping -NatName lab).InternalPort | Should -Be 22
        Remove-NetNat lab -Confirm:$false
        Get-NetNatStaticMapping | Should -BeNullOrEmpty
    }

    It 'tells the caller''s rights by SIDs' {
        whoami.exe /groups /fo csv /nh | Where-Object { $_ -like '*S-1-5-32-544*Enabled group*' } | Should -Not -BeNullOrEmpty
        Set-Faults @{ permission = 'denied' }
        whoami.exe /groups /fo csv /nh | Where-Object { $_ -like '*S-1-5-32-5*' } | Should -BeNullOrEmpty
        New-NetNat lab -InternalIPInterfaceAddressPrefix 10.1.0.0/24 -ErrorAction SilentlyContinue -ErrorVariable seen | Should -BeNullOrEmpty
        $seen | Should -Not -BeNullOrEmpty
        Set-Faults @{ permission = 'hyperv_administrator' }
        (New-VM allowed).Name | Should -Be 'allowed'
        New-NetNat lab -InternalIPInterfaceAddressPrefix 10.1.0.0/24 -ErrorAction SilentlyContinue -ErrorVariable seen | Should -BeNullOrEmpty
        "$($seen[0].CategoryInfo.Category)" | Should -Be 'PermissionDenied'
        Set-Faults @{ permission = 'stale' }
        Get-VM -ErrorAction SilentlyContinue -ErrorVariable seen
        $seen[0].FullyQualifiedErrorId | Should -BeLike 'Unspecified,*'
        Get-LocalGroupMember -SID S-1-5-32-578 | Should -Not -BeNullOrEmpty
    }
}
