# Reads PowerShell scripts with PowerShell's own parser and says what they use, as one JSON object on standard output.
param([Parameter(Mandatory = $true, ValueFromRemainingArguments = $true)] [string[]] $Path)

$ErrorActionPreference = 'Stop'

# What a hashtable variable of a function is splatted with: the keys of its literals and the members that are set later.
function Get-SplatKeys($scope, [string] $name) {
    foreach ($assignment in $scope.FindAll({ param($node) $node -is [Management.Automation.Language.AssignmentStatementAst] }, $true)) {
        $left = $assignment.Left
        if ($left -is [Management.Automation.Language.VariableExpressionAst] -and $left.VariablePath.UserPath -eq $name) {
            foreach ($table in $assignment.Right.FindAll({ param($node) $node -is [Management.Automation.Language.HashtableAst] }, $false)) {
                foreach ($pair in $table.KeyValuePairs) { [string] $pair.Item1.Value }
            }
        }
        if ($left -is [Management.Automation.Language.MemberExpressionAst] -and $left.Expression -is [Management.Automation.Language.VariableExpressionAst] -and $left.Expression.VariablePath.UserPath -eq $name) {
            [string] $left.Member.Value
        }
    }
}

function Get-Scope($node) {
    for ($at = $node.Parent; $at; $at = $at.Parent) {
        if ($at -is [Management.Automation.Language.FunctionDefinitionAst] -or -not $at.Parent) { return $at }
    }
}

# Syntax that Windows PowerShell 5.1 does not know.
function Get-NewerSyntax($node) {
    switch ($node.GetType().Name) {
        'TernaryExpressionAst' { 'a ternary expression' }
        'PipelineChainAst' { 'a pipeline chain' }
        'BinaryExpressionAst' { if ([string] $node.Operator -eq 'QuestionQuestion') { 'the operator ??' } }
        'AssignmentStatementAst' { if ([string] $node.Operator -eq 'QuestionQuestionEquals') { 'the operator ??=' } }
        'PipelineAst' { if ($node.Background) { 'a background pipeline' } }
        'MemberExpressionAst' { if ($node.NullConditional) { 'the operator ?.' } }
        'InvokeMemberExpressionAst' { if ($node.NullConditional) { 'the operator ?.' } }
        'IndexExpressionAst' { if ($node.NullConditional) { 'the operator ?[]' } }
    }
}

function Read-Command($node) {
    $parameters = @()
    $values = @()
    $splats = @()
    foreach ($element in $node.CommandElements | Select-Object -Skip 1) {
        if ($element -is [Management.Automation.Language.CommandParameterAst]) { $parameters += $element.ParameterName }
        elseif ($element -is [Management.Automation.Language.VariableExpressionAst] -and $element.Splatted) {
            $name = $element.VariablePath.UserPath
            $splats += $name
            $parameters += @(Get-SplatKeys (Get-Scope $node) $name)
        }
        elseif ($element -is [Management.Automation.Language.StringConstantExpressionAst]) { $values += $element.Value }
    }
    @{ name = [string] $node.GetCommandName(); parameters = @($parameters); splats = @($splats); values = @($values); line = $node.Extent.StartLineNumber }
}

$scripts = foreach ($file in $Path) {
    $tokens = $null
    $errors = $null
    $tree = [Management.Automation.Language.Parser]::ParseFile($file, [ref] $tokens, [ref] $errors)
    $all = $tree.FindAll({ $true }, $true)
    @{
        path = $file
        errors = @($errors | ForEach-Object { @{ what = $_.Message; line = $_.Extent.StartLineNumber } })
        functions = @($all | Where-Object { $_ -is [Management.Automation.Language.FunctionDefinitionAst] } | ForEach-Object { $_.Name })
        commands = @($all | Where-Object { $_ -is [Management.Automation.Language.CommandAst] } | ForEach-Object { Read-Command $_ })
        statics = @($all | Where-Object { $_ -is [Management.Automation.Language.MemberExpressionAst] -and $_.Static } | ForEach-Object { @{ type = [string] $_.Expression.TypeName.FullName; member = [string] $_.Member.Value; line = $_.Extent.StartLineNumber } })
        members = @($all | Where-Object { $_ -is [Management.Automation.Language.InvokeMemberExpressionAst] -and -not $_.Static } | ForEach-Object { @{ member = [string] $_.Member.Value; line = $_.Extent.StartLineNumber } })
        types = @($all | Where-Object { $_ -is [Management.Automation.Language.TypeExpressionAst] -or $_ -is [Management.Automation.Language.TypeConstraintAst] } | ForEach-Object { @{ type = [string] $_.TypeName.FullName; line = $_.Extent.StartLineNumber } })
        variables = @($all | Where-Object { $_ -is [Management.Automation.Language.VariableExpressionAst] } | ForEach-Object { @{ name = $_.VariablePath.UserPath; line = $_.Extent.StartLineNumber } })
        newer = @(foreach ($node in $all) { foreach ($what in @(Get-NewerSyntax $node)) { @{ what = $what; line = $node.Extent.StartLineNumber } } })
    }
}
ConvertTo-Json -InputObject @{ scripts = @($scripts) } -Depth 8 -Compress
