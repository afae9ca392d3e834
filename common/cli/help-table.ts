import type { Command } from 'commander'

/** Help of a command in addition to its description and options. */
export interface CommandHelp {
  /** Heading of the command in the list of its program. Subcommands have none. */
  readonly group?: string
  /** Command lines that a user can type. */
  readonly examples: readonly [string, ...string[]]
  /** Further sentences, one per line, after the examples. */
  readonly notes?: readonly string[]
}

/** Help of a program's commands by path: `join`, `limits set`. */
export type HelpTable = Readonly<Record<string, CommandHelp>>

/** Returns the commands of a program that can run, each with its path below the program. */
export function runnableCommands(program: Command): { readonly path: string; readonly command: Command }[] {
  const within = (command: Command, parents: string): { path: string; command: Command }[] =>
    command.commands.flatMap((one) => {
      const path = `${parents}${one.name()}`
      const own = one.commands.length === 0 || isRunnable(one) ? [{ path, command: one }] : []
      return [...own, ...within(one, `${path} `)]
    })
  return within(program, '')
}

/** Tests whether a command with subcommands can run without one. */
const isRunnable = (command: Command): boolean => command.registeredArguments.length > 0 || command.options.length > 0

/** Adds groups, examples and notes to the commands of a program. */
export function addHelp(program: Command, table: HelpTable): void {
  for (const command of program.commands) {
    const own =
      table[command.name()] ?? Object.entries(table).find(([path]) => path.startsWith(`${command.name()} `))?.[1]
    if (own?.group !== undefined) command.helpGroup(`${own.group}:`)
  }
  for (const { path, command } of runnableCommands(program)) {
    const help = table[path]
    if (help !== undefined) command.addHelpText('after', `\n${helpText(help)}`)
  }
}

const helpText = ({ examples, notes = [] }: CommandHelp): string =>
  [
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...examples.map((line) => `  ${line}`),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n')
