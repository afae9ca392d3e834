import { Command } from 'commander'
import { CodedError } from '../errors/index.js'
import { versionText } from './version.js'

export interface Program {
  readonly name: string
  readonly description: string
  /** By name, each loaded only when it is asked for: what a command imports may take a second. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>
  /** Exit status for an error that the user can put right. Default: 1. */
  readonly statusOf?: (error: Error) => number
  /** Added to the message of such an error. */
  readonly advice?: (error: Error) => string
}

export type AddCommand = (program: Command) => void

const VERSION_FLAGS = ['-V', '--version']

/** One of the package's programs, without commands yet. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(versionText(), VERSION_FLAGS.join(', '), 'print the versions of package, protocols and engine')
}

/** Runs the command that the command line names; without one that is known, all are there to be listed or asked for again. */
export async function runProgram(options: Program): Promise<void> {
  const { commands } = options
  const asked = process.argv[2] ?? ''
  const all = VERSION_FLAGS.includes(asked) ? [] : Object.keys(commands)
  await parseOrExplain(await withCommands(options, Object.hasOwn(commands, asked) ? [asked] : all), options)
}

/** A program with these of its commands. Default: all. */
export async function withCommands(
  { name, description, commands }: Program,
  wanted: readonly string[] = Object.keys(commands),
): Promise<Command> {
  const program = createProgram(name, description).enablePositionalOptions()
  for (const command of wanted) (await commands[command]!())(program)
  return program
}

/**
 * Does what the command line asks for. What the user can put right (an error with a code, a file that cannot be used) is one line on
 * stderr; anything else is a fault of ours, thrown with its stack trace.
 */
export async function parseOrExplain(
  program: Command,
  { statusOf = () => 1, advice = () => '' }: Pick<Program, 'statusOf' | 'advice'> = {},
): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    if (!(error instanceof CodedError || isFileError(error))) throw error
    process.stderr.write(`${program.name()}: ${error.message}${advice(error)}\n`)
    process.exitCode = statusOf(error)
  }
}

const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'
