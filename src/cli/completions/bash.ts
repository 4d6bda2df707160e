/** The completion script for bash, from version 3.2 on; needs no other package. */

import { type CompletedFlag, type CompletionModel, PREFIX_WORDS, valueFlags } from "./model.ts";

/** Writes the script. Every word in it is made of letters, digits and dashes, so nothing needs quoting. */
export function bashScript(model: CompletionModel): string {
  const { nouns, verbs, commands, globals } = model;
  return `# Completion of hvlab for bash. Made by: hvlab completions bash
_hvlab() {
    local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
    local command= expects= word index flag= offers= flags= files=
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=\${COMP_WORDS[index]}
        if [[ $word == = ]]; then expects=yes; continue; fi
        if [[ -n $expects ]]; then expects=; continue; fi
        case $word in
        --) _hvlab_files "$cur"; return ;;
        ${valueFlags(model).join("|")}) expects=yes ;;
        -*) ;;
        *)
            case "$command|$word" in
            ${PREFIX_WORDS.map((word) => `"|${word}"`).join("|")}) ;;
            ${steps(model).join("|\\\n            ")}) command="\${command:+$command }$word" ;;
            esac ;;
        esac
    done
    if [[ $cur == = ]]; then cur= flag=$prev
    elif [[ $prev == = ]]; then flag=\${COMP_WORDS[COMP_CWORD-2]}
    elif [[ -n $expects ]]; then flag=$prev
    fi
    if [[ -n $flag ]]; then
        case "$command|$flag" in
${
    commands.flatMap(({ command, flags }) =>
      flags.flatMap((flag) => valueCase(`"${command}|${flag.word}"`, flag))
    ).join("\n")
  }
${globals.flatMap((flag) => valueCase(`*"|${flag.word}"`, flag)).join("\n")}
        esac
        COMPREPLY=($(compgen -W "$offers" -- "$cur"))
        return
    fi
    case $command in
    "") offers="${nouns.map(({ word }) => word).join(" ")}" ;;
${
    [...verbs].filter(([noun]) => !commands.some(({ command }) => command === noun)).map(([noun, list]) =>
      `    "${noun}") offers="${list.map(({ word }) => word).join(" ")}" ;;`
    ).join("\n")
  }
${
    commands.map(({ command, flags, choices, files }) => {
      const words = [...choices, ...(verbs.get(command) ?? []).map(({ word }) => word)];
      const own = flags.map(({ word }) => word);
      return `    "${command}") offers="${words.join(" ")}" flags="${own.join(" ")}"${
        files ? " files=yes" : ""
      } ;;`;
    }).join("\n")
  }
    esac
    [[ $cur == -* ]] && offers="$flags ${globals.map(({ word }) => word).join(" ")}"
    COMPREPLY=($(compgen -W "$offers" -- "$cur"))
    [[ -z $files || $cur == -* ]] || _hvlab_files "$cur"
}
_hvlab_files() {
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$1"))
}
complete -F _hvlab hvlab
`;
}

/** Command words as they follow each other: `"|vm"`, `"vm|start"`. */
function steps({ nouns, verbs }: CompletionModel): string[] {
  const first = nouns.filter(({ word }) => !PREFIX_WORDS.some((prefix) => prefix === word)).map(({ word }) =>
    `"|${word}"`
  );
  const second = [...verbs].flatMap(([noun, list]) => list.map(({ word }) => `"${noun}|${word}"`));
  return [...first, ...second];
}

function valueCase(pattern: string, { takesValue, choices, files }: CompletedFlag): string[] {
  if (!takesValue) return [];
  if (files) return [`        ${pattern}) _hvlab_files "$cur"; return ;;`];
  return choices.length === 0 ? [] : [`        ${pattern}) offers="${choices.join(" ")}" ;;`];
}
