import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { makeBackup } from '../backup/make-backup.js'
import { interruptible } from './interruptible.js'
import { dataDirOf, openRunLog, type RunOptions, withRunOptions } from './run-log.js'

export function addBackupCommand(program: Command): void {
  withRunOptions(
    program
      .command('backup')
      .description(
        'Copy a run into a new folder, also while its coordinator runs; includes the run.yaml that --config names',
      )
      .argument('<folder>', 'folder of the backup; must not exist', nonEmpty),
  ).action(backUp)
}

async function backUp(target: string, options: RunOptions): Promise<void> {
  const dataDir = dataDirOf('backup', options)
  process.umask(PRIVATE_UMASK)
  await interruptible('the backup', async (signal) => {
    const { log, close } = await openRunLog(dataDir, signal)
    try {
      const parts = { log, dataDir, configFile: options.config ?? null, target, now: new Date() }
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
