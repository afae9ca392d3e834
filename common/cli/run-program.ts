import { Command, CommanderError } from 'commander'
import { CodedError } from '../errors/index.js'
import { exitStatusOf } from './exit-status.js'
import { versionText } from './version.js'

export interface Program {
  readonly name: string
  readonly description: string
  /** Commands by name. Each is loaded only when needed, because its imports may take a second. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>
  /** Checks the options of any command before its action. @throws CodedError */
  readonly prepare?: (options: Readonly<Record<string, unknown>>) => void
  /** Added to the message of such an error. */
  readonly advice?: (error: Error) => string
}

export type AddCommand = (program: Command) => void

const VERSION_FLAGS = ['-V', '--version']

/** Creates one of the package's programs, without commands. */
export function createProgram(name: string, description: string): Command {
  // Set before commands are added, because they inherit it.
  return new Command(name)
    .exitOverride()
    .description(description)
    .version(versionText(), VERSION_FLAGS.join(', '), 'print the versions of package, protocols and engine')
}

/** Runs the command of the command line. If the command is unknown, loads all commands, so that commander can list and suggest them. */
export async function runProgram(options: Program): Promise<void> {
  const { commands } = options
  const asked = process.argv[2] ?? ''
  const all = VERSION_FLAGS.includes(asked) ? [] : Object.keys(commands)
  await parseOrExplain(await withCommands(options, Object.hasOwn(commands, asked) ? [asked] : all), options)
}

/** Creates a program with some of its commands. Default: all. */
export async function withCommands(
  { name, description, commands, prepare }: Program,
  wanted: readonly string[] = Object.keys(commands),
): Promise<Command> {
  const program = createProgram(name, description).enablePositionalOptions()
  for (const command of wanted) (await commands[command]!())(program)
  if (prepare !== undefined) program.hook('preAction', (_, command) => prepare(command.opts()))
  return program
}

/**
 * Runs the command line, and sets the exit status (`exitStatusOf`). An error that the user can correct (with a code, or about a file) is
 * printed as one line on stderr. Any other error is a bug of this program and is thrown with its stack trace.
 */
export async function parseOrExplain(
  program: Command,
  { advice = () => '' }: Pick<Program, 'advice'> = {},
): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    // Commander has printed its message, or the help.
    if (!(error instanceof CommanderError)) {
      if (!(error instanceof CodedError || isFileError(error))) throw error
      process.stderr.write(`${program.name()}: ${error.message}${advice(error)}\n`)
    }
    process.exitCode = exitStatusOf(error)
  }
}

const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'
