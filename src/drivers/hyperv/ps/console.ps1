# A machine's screen, keyboard and mouse, over WMI. There are devices only while it is on, and a refusal is a return value.

function Find-Devices([string] $vm, [string] $class) {
    @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName $class -Filter ("SystemName='" + $vm.ToUpperInvariant() + "'") -ErrorAction Stop)
}

function Assert-Running([string] $vm, [string[]] $wanted) {
    $machine = Find-Machine $vm
    $state = [string] $machine.State
    if ($wanted -contains $state) { return $machine }
    Stop-WrongState $vm $state.ToLowerInvariant() (($wanted -join ' or ').ToLowerInvariant()) (Get-WakingHint $vm $state)
}

# A method of a device. 32768 is how a device says that nobody in the guest uses it.
function Invoke-Device($device, [string] $method, [hashtable] $arguments, [string] $what) {
    $code = [long] (Invoke-CimMethod -InputObject $device -MethodName $method -Arguments $arguments -ErrorAction Stop).ReturnValue
    if ($code -eq 0) { return }
    if ($code -eq 32768) { Stop-Operation 'hv.unsupported' "The guest does not use its $what" 'Wait until its driver has been loaded, and try again' @{ method = $method; code = $code } }
    Stop-Operation 'hv.job_failed' "Hyper-V refused $method with the code $code" 'Look at the VM''s state and try again' @{ method = $method; code = $code }
}

# The screen in its own size: RGB565, as base64.
function Get-Screen([string] $vm) {
    [void] (Assert-Running $vm @('Running', 'Paused'))
    $head = @(Find-Devices $vm 'Msvm_VideoHead')
    if (-not $head.Count) { Stop-Operation 'hv.unsupported' 'The VM has no screen' 'Look at it again when it has started' @{ vm = "vm-$vm" } }
    $width = [uint16] $head[0].CurrentHorizontalResolution
    $height = [uint16] $head[0].CurrentVerticalResolution
    $system = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_ComputerSystem -Filter ("Name='" + $vm.ToUpperInvariant() + "'") -ErrorAction Stop)
    $settings = @(Get-CimAssociatedInstance -InputObject $system[0] -ResultClassName Msvm_VirtualSystemSettingData -Association Msvm_SettingsDefineState -ErrorAction Stop)
    $service = @(Get-CimInstance -Namespace root/virtualization/v2 -ClassName Msvm_VirtualSystemManagementService -ErrorAction Stop)
    $wanted = @{ TargetSystem = $settings[0]; WidthPixels = $width; HeightPixels = $height }
    $answer = Invoke-CimMethod -InputObject $service[0] -MethodName GetVirtualSystemThumbnailImage -Arguments $wanted -ErrorAction Stop
    $code = [long] $answer.ReturnValue
    if ($code) { Stop-Operation 'hv.job_failed' "Hyper-V gave no picture of the screen, but the code $code" 'Try again' @{ code = $code; width = $width; height = $height } }
    @{ width = [int] $width; height = [int] $height; image = [Convert]::ToBase64String([byte[]] $answer.ImageData) }
}

# Groups of scan codes as base64, each the strokes of keys that belong together.
function Send-Scancodes([string] $vm, [string[]] $groups) {
    $machine = Assert-Running $vm @('Running')
    $keyboard = @(Find-Devices $vm 'Msvm_Keyboard')
    if (-not $keyboard.Count) { Stop-Operation 'hv.unsupported' 'The VM has no keyboard' 'Look at it again when it has started' @{ vm = "vm-$vm" } }
    foreach ($group in $groups) {
        Invoke-Device $keyboard[0] 'TypeScancodes' @{ Scancodes = [byte[]] [Convert]::FromBase64String($group) } 'keyboard'
        Start-Sleep -Milliseconds 5
    }
    @{ machine = ConvertTo-MachineFacts $machine }
}

# Steps of the mouse: `place X Y`, `move X Y`, `button NUMBER 0|1`. Places need the mouse of the integration services, moves the
# old one that generation 1 alone has.
function Move-Pointer([string] $vm, [string[]] $steps) {
    $machine = Assert-Running $vm @('Running')
    $moves = @($steps | Where-Object { $_.StartsWith('move ') }).Count -gt 0
    $class = $(if ($moves) { 'Msvm_Ps2Mouse' } else { 'Msvm_SyntheticMouse' })
    $mouse = @(Find-Devices $vm $class)
    if (-not $mouse.Count) {
        Stop-Operation 'hv.unsupported' 'The VM has no mouse that can be moved from where it is' 'Name a place of the screen; only generation 1 has a mouse that moves' @{ vm = "vm-$vm"; class = $class }
    }
    $flag = $(if ($moves) { 'buttonState' } else { 'isDown' })
    foreach ($step in $steps) {
        $words = $step.Split(' ')
        switch ($words[0]) {
            'place' { Invoke-Device $mouse[0] 'SetAbsolutePosition' @{ horizontalPosition = [int] $words[1]; verticalPosition = [int] $words[2] } 'mouse' }
            'move' { Invoke-Device $mouse[0] 'SetRelativePosition' @{ horizontalDelta = [sbyte] $words[1]; verticalDelta = [sbyte] $words[2] } 'mouse' }
            'button' { Invoke-Device $mouse[0] 'SetButtonState' @{ buttonIndex = [uint32] $words[1]; $flag = $words[2] -eq '1' } 'mouse' }
        }
        Start-Sleep -Milliseconds 5
    }
    @{ machine = ConvertTo-MachineFacts $machine }
}

function Send-Interrupt([string] $vm) {
    $machine = Assert-Running $vm @('Running')
    Hyper-V\Debug-VM -VM $machine -InjectNonMaskableInterrupt -Force -Confirm:$false -ErrorAction Stop
    @{ machine = ConvertTo-MachineFacts (Find-Machine $vm) }
}
