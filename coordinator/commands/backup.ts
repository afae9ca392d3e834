import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { makeBackup } from '../backup/make-backup.js'
import { dataDirOf, openRunLog, type RunOptions, withRunOptions } from './run-log.js'

export function addBackupCommand(program: Command): void {
  withRunOptions(
    program
      .command('backup')
      .description('Copy a run with its run.yaml into a new folder, also while its coordinator runs')
      .argument('<folder>', 'folder of the backup; must not exist', nonEmpty),
  ).action(backUp)
}

async function backUp(target: string, options: RunOptions): Promise<void> {
  const dataDir = dataDirOf(options)
  process.umask(PRIVATE_UMASK)
  await interruptible('no backup was made', async (signal) => {
    const { log, close } = await openRunLog(dataDir, signal)
    try {
      const configFile = options.dataDir === undefined ? options.config : null
      const parts = { log, dataDir, configFile, target, now: new Date() }
      const { run, events, files } = await makeBackup(parts, signal)
      const size = `${events.count} events and ${files.count} files, ${files.bytes} B`
      process.stdout.write(`${resolve(target)} contains the run ${run}: ${size}, read back and verified\n`)
    } finally {
      await close()
    }
  })
}

function nonEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('Name a folder.')
  return value
}
