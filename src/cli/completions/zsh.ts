/** The completion script for zsh; works as an autoloaded function and when sourced. */

import { type CompletedFlag, type CompletionModel, type Offer, PREFIX_WORDS, valueFlags } from "./model.ts";

/** Writes the script. */
export function zshScript(model: CompletionModel): string {
  const { nouns, verbs, commands, globals } = model;
  const prefixes = new Set<string>(PREFIX_WORDS);
  const steps = [
    ...nouns.filter(({ word }) => !prefixes.has(word)).map(({ word }) => `'|${word}'`),
    ...[...verbs].flatMap(([noun, list]) => list.map(({ word }) => `'${noun}|${word}'`)),
  ];
  return `#compdef hvlab
# Completion of hvlab for zsh. Made by: hvlab completions zsh
_hvlab() {
    local command= expects= word flag= files= cur=$words[CURRENT]
    local -a offers choices
    for word in "\${(@)words[2,CURRENT-1]}"; do
        if [[ -n $expects ]]; then expects=; continue; fi
        case $word in
        --) _files; return ;;
        ${valueFlags(model).map((flag) => `${flag}`).join("|")}) expects=yes flag=$word ;;
        -*) ;;
        *)
            case "$command|$word" in
            ${PREFIX_WORDS.map((word) => `'|${word}'`).join("|")}) ;;
            ${steps.join("|\\\n            ")}) command="\${command:+$command }$word" ;;
            esac ;;
        esac
    done
    [[ -n $expects ]] || flag=
    if [[ $cur == --*=* ]]; then
        flag=\${cur%%=*}
        compset -P '*='
    fi
    if [[ -n $flag ]]; then
        case "$command|$flag" in
${
    commands.flatMap(({ command, flags }) =>
      flags.flatMap((flag) => valueCase(`'${command}|${flag.word}'`, flag))
    ).join("\n")
  }
${globals.flatMap((flag) => valueCase(`*'|${flag.word}'`, flag)).join("\n")}
        esac
        (( $#choices )) && compadd -- "\${choices[@]}"
        return
    fi
    case $command in
    '') offers=(${offerList(nouns)}) ;;
${
    [...verbs].filter(([noun]) => !commands.some(({ command }) => command === noun)).map(([noun, list]) =>
      `    ${quote(noun)}) offers=(${offerList(list)}) ;;`
    ).join("\n")
  }
${
    commands.map(({ command, flags, choices, files }) => {
      const words = [
        ...choices.map((word) => ({ word, summary: "" })),
        ...verbs.get(command) ?? [],
        ...flags,
      ];
      return `    ${quote(command)}) offers=(${offerList(words)})${files ? " files=yes" : ""} ;;`;
    }).join("\n")
  }
    esac
    if [[ $cur == -* ]]; then
        offers+=(${offerList(globals)})
        offers=("\${(@M)offers:#-*}")
    else
        offers=("\${(@)offers:#-*}")
        [[ -n $files ]] && _files
    fi
    (( $#offers )) && _describe 'hvlab' offers
}
if [[ $funcstack[1] == _hvlab ]]; then _hvlab "$@"; else compdef _hvlab hvlab; fi
`;
}

function offerList(offers: readonly Offer[]): string {
  return offers.map(({ word, summary }) => quote(summary === "" ? word : `${word}:${summary}`)).join(" ");
}

function valueCase(pattern: string, { takesValue, choices, files }: CompletedFlag): string[] {
  if (!takesValue) return [];
  if (files) return [`        ${pattern}) _files; return ;;`];
  return choices.length === 0 ? [] : [`        ${pattern}) choices=(${choices.map(quote).join(" ")}) ;;`];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
