import { join } from 'node:path'
import type { Command } from 'commander'
import { type AdapterLibrary, openAdapterLibrary } from '../adapters.js'
import { type NamedRun, RUN_ARGUMENT, runArgument } from './arguments.js'
import { dataFolder } from './defaults.js'

/** `prove-node adapters`: what a run has published, for researchers. */
export function addAdaptersCommands(program: Command): void {
  const adapters = program.command('adapters').description('What a run has published')
  adapters
    .command('list')
    .argument(...RUN_ARGUMENT, runArgument)
    .option('--data-dir <folder>', 'where downloads are kept', dataFolder)
    .action((run: () => Promise<NamedRun>, { dataDir }: { dataDir: string }) =>
      withLibrary(run, dataDir, async (library, signal) => {
        const { manifest } = await library.newest(signal)
        process.stdout.write(
          `version ${manifest.version} of ${manifest.policy.base.name}, ${new Date(manifest.createdAtMs).toISOString()}\n`,
        )
        for (const { role, sizeBytes, sha256 } of manifest.blobs) {
          process.stdout.write(`  ${role.padEnd(14)} ${String(sizeBytes).padStart(10)} B  ${sha256}\n`)
        }
      }),
    )
  adapters
    .command('pull')
    .description('Download the newest adapter: a PEFT directory with the GGUF beside it')
    .argument(...RUN_ARGUMENT, runArgument)
    .argument('<folder>', 'where to put it')
    .option('--data-dir <folder>', 'where downloads are kept', dataFolder)
    .action((run: () => Promise<NamedRun>, folder: string, { dataDir }: { dataDir: string }) =>
      withLibrary(run, dataDir, async (library, signal) => {
        const publication = await library.newest(signal)
        for (const path of await library.pull(publication, folder, signal)) process.stdout.write(`${path}\n`)
      }),
    )
}

const withLibrary = async (
  run: () => Promise<NamedRun>,
  dataDir: string,
  use: (library: AdapterLibrary, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const { coordinator } = await run()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort(new Error('stopped')))
  const library = await openAdapterLibrary(coordinator, join(dataDir, 'adapters'), stop.signal)
  try {
    await use(library, stop.signal)
  } finally {
    await library.close()
  }
}
