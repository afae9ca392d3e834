import { resolve } from 'node:path'
import type { Command } from 'commander'
import encodeQR from 'qr'
import { readInvitation } from '../service/invitation.js'
import { ConfigError, readConfig } from '../settings/config.js'

export function addInvitationCommand(program: Command): void {
  program
    .command('invitation')
    .description('Print what volunteers join the run with')
    .option('--config <file>', 'run.yaml: names the data folder')
    .option('--data-dir <folder>', 'the data folder, if there is no run.yaml')
    .option('--qr', 'as a QR code, to be scanned from the terminal', false)
    .action(printInvitation)
}

async function printInvitation({
  config,
  dataDir,
  qr,
}: {
  config?: string
  dataDir?: string
  qr: boolean
}): Promise<void> {
  if ((config === undefined) === (dataDir === undefined))
    throw new ConfigError('invitation: give either --config or --data-dir')
  const text = await readInvitation(config === undefined ? resolve(dataDir!) : readConfig(config).dataDir)
  process.stdout.write(qr ? qrCode(text, process.stdout.columns) : `${text}\n`)
}

/** Modules of white around the code: what the standard asks for, and what telephones are content with. */
const MARGINS = [4, 2]
/** White on black whatever the terminal's own colours are. */
const [WHITE_ON_BLACK, RESET] = ['\u001b[97;40m', '\u001b[0m']

/**
 * A QR code in half blocks: two rows of it in each line.
 * @param columns  of the terminal; undefined: the output goes elsewhere, and has no colours
 * @throws ConfigError when it does not fit
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
