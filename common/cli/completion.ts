import type { Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Words that can follow a command: its subcommands, its options, and the values of options that have a closed set or name a file. */
interface Completed {
  /** Program and subcommands, such as `prove-node adapters pull`. */
  readonly path: string
  readonly subcommands: readonly string[]
  readonly flags: readonly string[]
  readonly values: readonly { readonly flag: string; readonly words: string }[]
}

/** Stands for names of files among the values. */
const FILES = '@files'
const FILE_PLACEHOLDER = /<(file|folder|gguf)(\.\.\.)?>/

/**
 * Generates a completion script for a shell, from the definitions of the programs.
 * @param umbrella  the program that runs the others by their short names: `prove-swarm node` is `prove-node`
 */
export function completionScript(shell: Shell, programs: readonly Command[], umbrella: string): string {
  const all = programs.flatMap((program) => completedIn(program, program.name()))
  const names = [umbrella, ...programs.map((program) => program.name())]
  const shorts = programs.map((program) => program.name().replace(/^prove-/, ''))
  const top: Completed = { path: umbrella, subcommands: [...shorts, 'completion'], flags: ['--help'], values: [] }
  const under: Completed = { path: `${umbrella} completion`, subcommands: [...SHELLS], flags: ['--help'], values: [] }
  return RENDER[shell]([top, under, ...all], names, umbrella)
}

function completedIn(command: Command, path: string): Completed[] {
  const visible = command.options.filter(({ hidden }) => !hidden)
  const own = {
    path,
    subcommands: command.commands.map((one) => one.name()),
    flags: [...visible.flatMap(({ long }) => (long ? [long] : [])), '--help'],
    values: visible.flatMap(valuesOf),
  }
  return [own, ...command.commands.flatMap((one) => completedIn(one, `${path} ${one.name()}`))]
}

function valuesOf({ long, argChoices, flags }: Option): Completed['values'] {
  if (!long || !/[<[]/.test(flags)) return []
  return [{ flag: long, words: argChoices ? argChoices.join(' ') : FILE_PLACEHOLDER.test(flags) ? FILES : '' }]
}

type Render = (all: readonly Completed[], names: readonly string[], umbrella: string) => string

/** Lines of a `case` statement of bash and zsh: a line for each key with words. */
const caseOf = (rows: readonly (readonly [key: string, words: string])[]): string =>
  rows.map(([key, words]) => `    '${key}') echo '${words}' ;;`).join('\n')

const tablesOf = (all: readonly Completed[]) => ({
  subcommands: all.flatMap(({ path, subcommands: of }) => (of.length === 0 ? [] : [[path, of.join(' ')] as const])),
  flags: all.map(({ path, flags }) => [path, flags.join(' ')] as const),
  values: all.flatMap(({ path, values }) => values.map(({ flag, words }) => [`${path} ${flag}`, words] as const)),
})

/** Functions that bash and zsh share. A value that is an empty line has no completion. */
function functionsOf(all: readonly Completed[]): string {
  const { subcommands, flags, values } = tablesOf(all)
  return `_prove_subcommands() {
  case "$1" in
${caseOf(subcommands)}
  esac
}
_prove_flags() {
  case "$1" in
${caseOf(flags)}
  esac
}
_prove_values() {
  case "$1" in
${caseOf(values)}
    *) return 1 ;;
  esac
}
_prove_path() {
  local place="\${1##*/}" word
  shift
  for word in "$@"; do
    case " $(_prove_subcommands "$place") " in
      *" $word "*) place="$place $word" ;;
    esac
    case "$place" in
      'UMBRELLA completion') ;;
      'UMBRELLA '*) place="prove-\${place#UMBRELLA }" ;;
    esac
  done
  echo "$place"
}`
}

const bash: Render = (all, names, umbrella) => `# Completion of ${names.join(', ')} for bash.
${functionsOf(all).replaceAll('UMBRELLA', umbrella)}
_prove_complete() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place words
  place=$(_prove_path "\${COMP_WORDS[@]:0:COMP_CWORD}")
  if words=$(_prove_values "$place \${COMP_WORDS[COMP_CWORD-1]}"); then
    if [ "$words" = '${FILES}' ]; then COMPREPLY=($(compgen -f -- "$current")); else COMPREPLY=($(compgen -W "$words" -- "$current")); fi
    return
  fi
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$(_prove_flags "$place")" -- "$current")) ;;
    *)
      COMPREPLY=($(compgen -W "$(_prove_subcommands "$place")" -- "$current"))
      [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
      ;;
  esac
}
complete -o filenames -F _prove_complete ${names.join(' ')}
`

const zsh: Render = (all, names, umbrella) => `#compdef ${names.join(' ')}
# Completion of ${names.join(', ')} for zsh.
${functionsOf(all).replaceAll('UMBRELLA', umbrella)}
_prove_complete() {
  local current="\${words[CURRENT]}" found
  local place="$(_prove_path "\${(@)words[1,CURRENT-1]}")"
  if found="$(_prove_values "$place \${words[CURRENT-1]}")"; then
    if [[ "$found" = '${FILES}' ]]; then _files; else compadd -- \${=found}; fi
    return
  fi
  if [[ "$current" = -* ]]; then
    compadd -- \${="$(_prove_flags "$place")"}
  else
    found="$(_prove_subcommands "$place")"
    if [[ -n "$found" ]]; then compadd -- \${=found}; else _files; fi
  fi
}
compdef _prove_complete ${names.join(' ')}
`

const fishCases = (rows: readonly (readonly [key: string, words: string])[]): string =>
  rows
    .map(([key, words]) => `        case '${key}'\n            printf '%s\\n' ${words === '' ? "''" : words}`)
    .join('\n')

const fish: Render = (all, names, umbrella) => {
  const { subcommands, flags, values } = tablesOf(all)
  return `# Completion of ${names.join(', ')} for fish.
function __prove_subcommands
    switch "$argv[1]"
${fishCases(subcommands)}
    end
end
function __prove_flags
    switch "$argv[1]"
${fishCases(flags)}
    end
end
function __prove_values
    switch "$argv[1]"
${fishCases(values)}
        case '*'
            return 1
    end
end
function __prove_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l path (string replace -r '.*/' '' -- $typed[1])
    for word in $typed[2..-1]
        if contains -- $word (__prove_subcommands $path)
            set path "$path $word"
        end
        if string match -q '${umbrella} *' -- $path; and test $path != '${umbrella} completion'
            set path (string replace '${umbrella} ' 'prove-' -- $path)
        end
    end
    if set -l found (__prove_values "$path $typed[-1]")
        if test "$found" = '${FILES}'
            __fish_complete_path $current
        else
            printf '%s\\n' $found
        end
        return
    end
    if string match -q -- '-*' $current
        __prove_flags $path
    else if set -l found (__prove_subcommands $path); and test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path $current
    end
end
${names.map((name) => `complete -c ${name} -f -a '(__prove_complete)'`).join('\n')}
`
}

const RENDER: Readonly<Record<Shell, Render>> = { bash, zsh, fish }
