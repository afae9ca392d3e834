import type { Command } from 'commander'
import { exportIdentity, importIdentity, openIdentity } from '../../swarm/index.js'
import { dataFolder } from './defaults.js'

/** `prove-node identity`: the key that names a node. */
export function addIdentityCommands(program: Command): void {
  const identity = program.command('identity').description('The key that names this node')
  identity
    .command('show')
    .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      process.stdout.write(`${(await openIdentity(dataDir)).peerId}\n`)
    })
  identity
    .command('export')
    .description('Print the private key; whoever has it is this node')
    .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      process.stdout.write(`${exportIdentity(await openIdentity(dataDir))}\n`)
    })
  identity
    .command('import')
    .argument('<key>', 'what `identity export` printed')
    .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
    .option('--replace', 'give up the key that is there', false)
    .action(async (text: string, { dataDir, replace }: { dataDir: string; replace: boolean }) => {
      process.stdout.write(`${(await importIdentity(dataDir, text, replace)).peerId}\n`)
    })
}
