import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { CONFIG_FILE } from '../backup/backup-format.js'
import { restoreBackup } from '../backup/restore-backup.js'
import { interruptible } from './interruptible.js'

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Put a backup into an empty data folder, after checking all of it')
    .argument('<backup>', 'folder that the backup command made')
    .requiredOption('--data-dir <folder>', 'not there yet, or empty')
    .action(restore)
}

async function restore(backup: string, { dataDir }: { dataDir: string }): Promise<void> {
  process.umask(PRIVATE_UMASK)
  const { run, events } = await interruptible('the restore', (signal) => restoreBackup(backup, dataDir, signal))
  const config = join(resolve(backup), CONFIG_FILE)
  const kept = await stat(config).then(
    () => true,
    () => false,
  )
  process.stdout.write(
    [
      `${resolve(dataDir)} holds the run ${run} as it was after ${events.count} events.`,
      `Go on with: prove-coordinator start --config run.yaml, where run.yaml says dataDir: ${resolve(dataDir)}`,
      ...(kept ? [`The run.yaml of that time is ${config}; paths in it are relative to where it lay.`] : []),
      'Base model and data set must be the same. Never let the run go on in two places: volunteers could not tell them apart.',
      '',
    ].join('\n'),
  )
}
