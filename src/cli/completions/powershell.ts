/** The completion script for PowerShell, 5.1 and 7. */

import { type CompletedFlag, type CompletionModel, type Offer, PREFIX_WORDS, valueFlags } from "./model.ts";

/** Writes the script. */
export function powershellScript(model: CompletionModel): string {
  const { nouns, verbs, commands, globals } = model;
  const values = [
    ...commands.flatMap(({ command, flags }) =>
      flags.flatMap((flag) => valueEntry(`${command}|${flag.word}`, flag))
    ),
    ...globals.flatMap((flag) => valueEntry(`|${flag.word}`, flag)),
  ];
  return `# Completion of hvlab for PowerShell. Made by: hvlab completions powershell
Register-ArgumentCompleter -Native -CommandName hvlab, hvlab.exe, hvlab.cmd -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $valueFlags = @(${valueFlags(model).map(quote).join(", ")})
    $offers = @{
        '' = @(${offerList(nouns)})
${
    [...verbs].filter(([noun]) => !commands.some(({ command }) => command === noun)).map(([noun, list]) =>
      `        ${quote(noun)} = @(${offerList(list)})`
    ).join("\n")
  }
${
    commands.map(({ command, flags, choices }) => {
      const words = [
        ...choices.map((word) => ({ word, summary: "" })),
        ...verbs.get(command) ?? [],
        ...flags,
      ];
      return `        ${quote(command)} = @(${offerList(words)})`;
    }).join("\n")
  }
    }
    $values = @{
${values.join("\n")}
    }
    $globals = @(${offerList(globals)})
    $command = ''
    $flag = ''
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.Extent.Text
        if ($flag -ne '') { $flag = ''; continue }
        if ($word -eq '--') { return }
        if ($valueFlags -ccontains $word) { $flag = $word; continue }
        if ($word.StartsWith('-')) { continue }
        if ($command -eq '' -and @(${PREFIX_WORDS.map(quote).join(", ")}) -ccontains $word) { continue }
        $next = "$command $word".Trim()
        if ($offers.ContainsKey($next)) { $command = $next }
    }
    $prefix = ''
    $typed = $wordToComplete
    if ($typed -match '^(--[^=]+)=(.*)$') { $flag = $Matches[1]; $prefix = "$flag="; $typed = $Matches[2] }
    if ($flag -ne '') {
        $found = $values["$command|$flag"]
        if ($null -eq $found) { $found = $values["|$flag"] }
        $found = @($found | Where-Object { $_ } | ForEach-Object { ,@($_, '') })
    } else {
        $found = @($offers[$command])
        if ($typed.StartsWith('-')) { $found += $globals }
        else { $found = @($found | Where-Object { $_ -and -not $_[0].StartsWith('-') }) }
    }
    $found | Where-Object { $_ -and $_[0].StartsWith($typed) } | ForEach-Object {
        $tip = if ($_[1]) { $_[1] } else { $_[0] }
        [System.Management.Automation.CompletionResult]::new($prefix + $_[0], $_[0], 'ParameterValue', $tip)
    }
}
`;
}

function offerList(offers: readonly Offer[]): string {
  return offers.map(({ word, summary }) => `,@(${quote(word)}, ${quote(summary)})`).join("; ");
}

function valueEntry(key: string, { takesValue, choices }: CompletedFlag): string[] {
  if (!takesValue || choices.length === 0) return [];
  return [`        ${quote(key)} = @(${choices.map(quote).join(", ")})`];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
