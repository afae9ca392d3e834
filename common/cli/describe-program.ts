import { isAbsolute } from 'node:path'
import type { Argument, Command, Option } from 'commander'

const HEAD = `# Commands

Written by \`npm run docs\` from the definitions of the programs; each has \`--help\`, and \`--version\` names the versions of package, protocols and engine.`

/** docs/commands.md: programs with all of their commands, from what they tell commander. */
export const describePrograms = (programs: readonly Command[]): string =>
  `${[HEAD, ...programs.map(describeProgram)].join('\n\n')}\n`

function describeProgram(program: Command): string {
  const commands = program.commands.flatMap((one) => describe(one, program.name()))
  return [`## ${program.name()}`, program.description().replace(/\.?$/, '.'), ...commands].join('\n\n')
}

function describe(command: Command, parents: string): string[] {
  const path = `${parents} ${command.name()}`
  if (command.commands.length > 0) {
    const own = isRunnable(command) ? [section(command, path)] : []
    return [...own, ...command.commands.flatMap((one) => describe(one, path))]
  }
  return [section(command, path)]
}

/** Whether a command with commands of its own does something without one. */
const isRunnable = (command: Command): boolean => command.registeredArguments.length > 0 || command.options.length > 0

function section(command: Command, path: string): string {
  const { registeredArguments, options } = command
  const named = registeredArguments.map(usageOf).join(' ')
  const rows = [
    ...registeredArguments.filter(({ description }) => description !== '').map(argumentRow),
    ...options.filter(({ hidden }) => !hidden).map(optionRow),
  ]
  const table =
    rows.length === 0 ? [] : [['| argument or option | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')]
  return [
    `### \`${path}${named === '' ? '' : ` ${named}`}\``,
    cell(command.description()).replace(/\.?$/, '.'),
    ...table,
  ].join('\n\n')
}

function usageOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function argumentRow(argument: Argument): string {
  const { defaultValue, defaultValueDescription, required, description } = argument
  const standard = required ? 'required' : defaultOf(defaultValue, defaultValueDescription)
  return row(usageOf(argument), standard, description + choicesOf(argument.argChoices))
}

function optionRow({
  flags,
  mandatory,
  defaultValue,
  defaultValueDescription,
  description,
  argChoices,
  negate,
}: Option): string {
  // What `--no-x` turns off is on without it; that needs no saying.
  const standard = mandatory ? 'required' : negate ? '' : defaultOf(defaultValue, defaultValueDescription)
  return row(flags, standard, description + choicesOf(argChoices))
}

const choicesOf = (choices: readonly string[] | undefined): string =>
  choices ? `: ${choices.map((choice) => `\`${choice}\``).join(', ')}` : ''

function defaultOf(value: unknown, words: string | undefined): string {
  if (words !== undefined) return words
  // The folders of a program's own, which every machine has elsewhere.
  if (typeof value === 'string' && isAbsolute(value)) return 'in the user’s data folder'
  const isNothing =
    value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0)
  return isNothing ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const row = (flags: string, standard: string, meaning: string): string =>
  `| \`${bars(flags)}\` | ${cell(standard)} | ${cell(meaning)} |`

/** Text that does not end a cell of a table. */
const bars = (text: string): string => text.replaceAll('|', '\\|')

/** Nor begins a tag. */
const cell = (text: string): string => bars(text).replaceAll('\n', ' ').replaceAll('<', '&lt;')
