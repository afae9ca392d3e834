import { Command, CommanderError, Help } from 'commander'
import { CodedError } from '../errors/index.js'
import { EXIT, exitStatusOf } from './exit-status.js'
import { addHelp, type HelpTable } from './help-table.js'
import { versionText } from './version.js'

export interface Program {
  readonly name: string
  readonly description: string
  /** Commands by name. Each is loaded only when needed, because its imports may take a second. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>
  /** Groups and examples of all commands. */
  readonly help: HelpTable
  /** The command for a command line that begins with none of the commands, nor with an option. Default: none. */
  readonly fallback?: string
  /** Checks the options of any command before its action. @throws CodedError */
  readonly prepare?: (options: Readonly<Record<string, unknown>>) => void
  /** Added to the message of such an error. */
  readonly advice?: (error: Error) => string
}

export type AddCommand = (program: Command) => void

const VERSION_FLAGS = ['-V', '--version']

const usual = new Help()

/** Creates one of the package's programs, without commands. */
function createProgram(name: string, description: string): Command {
  // Set before commands are added, because they inherit it.
  return (
    new Command(name)
      .exitOverride()
      // An option that is off by default need not say so.
      .configureHelp({ optionDescription: (one) => (one.isBoolean() ? one.description : usual.optionDescription(one)) })
      .helpOption('-h, --help', 'print this help')
      .commandsGroup('Help:')
      .helpCommand('help [command]', 'Print the help of a command')
      .commandsGroup('')
      .description(description)
      .version(versionText(), VERSION_FLAGS.join(', '), 'print the versions of package, protocols and engine')
  )
}

/** Runs the command of the command line. */
export async function runProgram(options: Program): Promise<void> {
  await parseOrExplain(await withCommands(options, loadedFor(options, process.argv[2] ?? '')), options)
}

/** Returns the commands to load. If the first word is no command, these are all, so that commander can list and suggest them. */
function loadedFor({ commands, fallback }: Program, asked: string): string[] {
  if (Object.hasOwn(commands, asked)) return [asked]
  if (VERSION_FLAGS.includes(asked)) return []
  const isArgument = asked !== '' && asked !== 'help' && !asked.startsWith('-')
  return fallback !== undefined && isArgument ? [fallback] : Object.keys(commands)
}

/** Creates a program with some of its commands. Default: all. */
export async function withCommands(
  { name, description, commands, help, prepare }: Program,
  wanted: readonly string[] = Object.keys(commands),
): Promise<Command> {
  const program = createProgram(name, description).enablePositionalOptions()
  for (const command of wanted) (await commands[command]!())(program)
  addHelp(program, help)
  if (prepare !== undefined) program.hook('preAction', (_, command) => prepare(command.opts()))
  return program
}

/**
 * Runs the command line, and sets the exit status (`exitStatusOf`). An error that the user can correct (with a code, or about a file) is
 * printed as one line on stderr. Any other error is a bug of this program and is thrown with its stack trace.
 */
async function parseOrExplain(program: Command, { advice = () => '' }: Pick<Program, 'advice'> = {}): Promise<void> {
  // The reader of the output has closed it, such as `head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    throw error
  })
  try {
    await program.parseAsync()
  } catch (error) {
    // Commander has printed its message, or the help.
    if (error instanceof CommanderError) {
      process.exitCode = exitStatusOf(error)
      return
    }
    const full = error instanceof CodedError ? null : diskError(error)
    if (!full && !(error instanceof CodedError || isFileError(error))) throw error
    const told = full ?? (error as Error)
    process.stderr.write(`${program.name()}: ${told.message}${advice(told)}\n`)
    process.exitCode = exitStatusOf(told)
  }
}

const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'

/** A write that the file system refuses. */
export class DiskError extends CodedError<'disk_full' | 'disk_read_only'> {}

const DISK_CODES: Readonly<Record<string, 'disk_full' | 'disk_read_only'>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'disk_read_only',
}
const REMEDIES = {
  disk_full: 'Free some space on that disk, or name a folder on another one with --data-dir, and start again',
  disk_read_only: 'Make that disk writable, or name a folder on another one with --data-dir, and start again',
} as const

/** Looks for a full or read-only disk among an error and its causes. @returns  null: none was found */
export function diskError(error: unknown): DiskError | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    const { code: system, path, syscall } = cause as NodeJS.ErrnoException
    // Libraries such as LevelDB only put the text of the system into their messages.
    const found =
      DISK_CODES[system ?? ''] ?? (/No space left on device|ENOSPC/i.test(cause.message) ? 'disk_full' : undefined)
    if (found === undefined) continue
    const what = path ?? cause.message
    return new DiskError(found, `${what} could not be written${syscall ? ` (${syscall})` : ''}. ${REMEDIES[found]}`, {
      cause: error,
    })
  }
  return null
}
