import { Command } from 'commander'
import { CodedError } from '../errors/index.js'
import { versionText } from './version.js'

export interface Program {
  readonly name: string
  readonly description: string
  /** Commands by name. Each is loaded only when needed, because its imports may take a second. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>
  /** Checks the options of any command before its action. @throws CodedError */
  readonly prepare?: (options: Readonly<Record<string, unknown>>) => void
  /** Exit status for an error that the user can correct. Default: 1. */
  readonly statusOf?: (error: Error) => number
  /** Added to the message of such an error. */
  readonly advice?: (error: Error) => string
}

export type AddCommand = (program: Command) => void

const VERSION_FLAGS = ['-V', '--version']

/** Creates one of the package's programs, without commands. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
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
 * Runs the command line. An error that the user can correct (with a code, or about a file) is printed as one line on stderr. Any other
 * error is a bug of this program and is thrown with its stack trace.
 */
export async function parseOrExplain(
  program: Command,
  { statusOf = () => 1, advice = () => '' }: Pick<Program, 'statusOf' | 'advice'> = {},
): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    const full = error instanceof CodedError ? null : diskError(error)
    if (!full && !(error instanceof CodedError || isFileError(error))) throw error
    const told = full ?? (error as Error)
    process.stderr.write(`${program.name()}: ${told.message}${advice(told)}\n`)
    process.exitCode = statusOf(told)
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
