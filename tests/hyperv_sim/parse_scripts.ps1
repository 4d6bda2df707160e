# Parses every script of the sidecar and of this folder in the PowerShell that runs this. The exit code is the number of errors.
$root = [IO.Path]::GetFullPath((Join-Path $PSScriptRoot '../..'))
$scripts = @(Get-ChildItem -Path (Join-Path $root 'src/drivers/hyperv/ps/*.ps1')) + @(Get-ChildItem -Path (Join-Path $PSScriptRoot '*.ps1'))
$count = 0
foreach ($script in $scripts) {
    $tokens = $null
    $errors = $null
    [void] [Management.Automation.Language.Parser]::ParseFile($script.FullName, [ref] $tokens, [ref] $errors)
    foreach ($problem in $errors) { '{0}:{1}: {2}' -f $script.Name, $problem.Extent.StartLineNumber, $problem.Message }
    $count += @($errors).Count
}
'{0} scripts parsed by PowerShell {1}, {2} errors' -f $scripts.Count, $PSVersionTable.PSVersion, $count
exit $count
