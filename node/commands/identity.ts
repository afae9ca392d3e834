import type { Command } from 'commander'
import { exportIdentity, importIdentity } from '../../swarm/index.js'
import { openOwnKey } from '../session/own-key.js'
import { dataFolder } from './defaults.js'

/** Adds `prove-node identity`: the key of a node. */
export function addIdentityCommands(program: Command): void {
  const identity = program.command('identity').description('The key of this node')
  identity
    .command('show')
    .description('Print the peer id, which other nodes see')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      process.stdout.write(`${(await openOwnKey(dataDir)).peerId}\n`)
    })
  identity
    .command('export')
    .description('Print the private key; anyone who has it can act as this node')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      process.stdout.write(`${exportIdentity(await openOwnKey(dataDir))}\n`)
    })
  identity
    .command('import')
    .description('Use a private key from another machine')
    .argument('<key>', 'output of `identity export`')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--replace', 'replace the existing key', false)
    .action(async (text: string, { dataDir, replace }: { dataDir: string; replace: boolean }) => {
      process.stdout.write(`${(await importIdentity(dataDir, text, replace)).peerId}\n`)
    })
}
