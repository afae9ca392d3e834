import { Command } from 'commander'
import { CodedError } from '../errors/index.js'
import { versionText } from './version.js'

/** One of the package's programs, without commands yet. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(versionText(), '-V, --version', 'print the versions of package, protocols and engine')
}

export interface RunOptions {
  /** Status for an error that the user can put right. Default: 1. */
  readonly statusOf?: (error: Error) => number
  /** Added to the message of such an error. */
  readonly advice?: (error: Error) => string
}

/**
 * Runs the command that the command line names. What the user can put right (an error with a code, a file that cannot be used)
 * is one line on stderr; anything else is a fault of ours, thrown with its stack trace.
 */
export async function runProgram(
  program: Command,
  { statusOf = () => 1, advice = () => '' }: RunOptions = {},
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
