/** The completion script for fish. */

import { type CompletedFlag, type CompletionModel, type Offer, PREFIX_WORDS, valueFlags } from "./model.ts";

/** Writes the script: functions that find the command so far, and one line for each word on offer. */
export function fishScript(model: CompletionModel): string {
  const { nouns, verbs, commands, globals } = model;
  const prefixes = new Set<string>(PREFIX_WORDS);
  const steps = [
    ...nouns.filter(({ word }) => !prefixes.has(word)).map(({ word }) => `'|${word}'`),
    ...[...verbs].flatMap(([noun, list]) => list.map(({ word }) => `'${noun}|${word}'`)),
  ];
  const lines = [
    ...nouns.map((offer) => wordLine("", offer)),
    ...[...verbs].flatMap(([noun, list]) => list.map((offer) => wordLine(noun, offer))),
    ...commands.flatMap(({ command, flags, choices, files }) => [
      ...choices.map((word) => wordLine(command, { word, summary: "" })),
      ...flags.map((flag) => flagLine(`-n ${quote(`__hvlab_at ${quote(command)}`)} `, flag)),
      ...(files ? [`complete -c hvlab -n ${quote(`__hvlab_at ${quote(command)}`)} -F`] : []),
    ]),
    ...globals.map((flag) => flagLine(`-n 'not __hvlab_after_dashes' `, flag)),
  ];
  return `# Completion of hvlab for fish. Made by: hvlab completions fish
function __hvlab_after_dashes
    string match -q -r -- ' -- ' (commandline -pc)
end
function __hvlab_command
    if __hvlab_after_dashes
        echo --
        return
    end
    set -l command ''
    set -l expects ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -n "$expects"
            set expects ''
            continue
        end
        switch "$word"
            case ${valueFlags(model).join(" ")}
                set expects yes
            case '-*'
            case '*'
                switch "$command|$word"
                    case ${PREFIX_WORDS.map((word) => `'|${word}'`).join(" ")}
                    case ${steps.join(" \\\n                        ")}
                        set command (string trim -- "$command $word")
                end
        end
    end
    echo "$command"
end
function __hvlab_at
    test (__hvlab_command) = "$argv[1]"
end
complete -c hvlab -f
complete -c hvlab -n __hvlab_after_dashes -F
${lines.join("\n")}
`;
}

function wordLine(command: string, { word, summary }: Offer): string {
  return `complete -c hvlab -n ${quote(`__hvlab_at ${quote(command)}`)} -a ${word}${described(summary)}`;
}

function flagLine(condition: string, { word, summary, takesValue, choices, files }: CompletedFlag): string {
  const value = !takesValue
    ? ""
    : files
    ? " -r -F"
    : choices.length === 0
    ? " -x"
    : ` -x -a ${quote(choices.join(" "))}`;
  return `complete -c hvlab ${condition}-l ${word.slice(2)}${value}${described(summary)}`;
}

function described(summary: string): string {
  return summary === "" ? "" : ` -d ${quote(summary)}`;
}

/** In fish, single quotes keep all but `\\` and `'`. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
