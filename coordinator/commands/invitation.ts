import type { Command } from 'commander'
import encodeQR from 'qr'
import { readInvitation } from '../service/invitation.js'
import { ConfigError } from '../settings/config.js'
import { dataDirOf, type RunOptions, withRunOptions } from './run-log.js'

export function addInvitationCommand(program: Command): void {
  withRunOptions(program.command('invitation').description('Print the invitation with which volunteers join the run'))
    .option('--qr', 'print it as a QR code', false)
    .action(printInvitation)
}

async function printInvitation({ qr, ...options }: RunOptions & { readonly qr: boolean }): Promise<void> {
  const text = await readInvitation(dataDirOf(options))
  process.stdout.write(qr ? qrCode(text, process.stdout.columns) : `${text}\n`)
}

/** White modules around the code: as many as the standard asks for, or as many as telephones need. */
const MARGINS = [4, 2]
/** White on black, whatever the colours of the terminal are. */
const [WHITE_ON_BLACK, RESET] = ['\u001b[97;40m', '\u001b[0m']

/**
 * Draws a QR code in half blocks, with two rows of modules in each line.
 * @param columns  width of the terminal; undefined: the output is no terminal, and gets no colours
 * @throws ConfigError when the code does not fit
 */
export function qrCode(text: string, columns: number | undefined): string {
  let lines: string[] = []
  for (const border of MARGINS) {
    lines = encodeQR(text, 'ascii', { ecc: 'low', border }).trimEnd().split('\n')
    const width = Math.max(...lines.map((line) => line.length))
    if (columns === undefined) return `${lines.join('\n')}\n`
    if (width <= columns) return lines.map((line) => `${WHITE_ON_BLACK}${line}${RESET}\n`).join('')
  }
  const needed = Math.max(...lines.map((line) => line.length))
  throw new ConfigError(
    `invitation: the QR code is ${needed} columns wide, and this terminal has ${columns}: make it wider`,
  )
}
