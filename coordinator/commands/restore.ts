import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { CONFIG_FILE } from '../backup/backup-format.js'
import { restoreBackup } from '../backup/restore-backup.js'

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup into an empty data folder, after verifying all of it')
    .argument('<backup>', 'folder that the backup command wrote')
    .requiredOption('--data-dir <folder>', 'data folder of the program, which must be empty or not exist')
    .action(restore)
}

async function restore(backup: string, { dataDir }: { dataDir: string }): Promise<void> {
  process.umask(PRIVATE_UMASK)
  const { run, events } = await interruptible('nothing was restored', (signal) =>
    restoreBackup(backup, dataDir, signal),
  )
  const config = join(resolve(backup), CONFIG_FILE)
  const kept = await stat(config).then(
    () => true,
    () => false,
  )
  process.stdout.write(
    [
      `${resolve(dataDir)} contains the run ${run} as it was after ${events.count} events.`,
      `Resume it with: prove-coordinator start, where run.yaml contains dataDir: ${resolve(dataDir)}`,
      ...(kept ? [`The run.yaml of that time is ${config}; its paths are relative to its original folder.`] : []),
      'Base model and data set must be the same. Never resume the run in two places: volunteers could not distinguish them.',
      '',
    ].join('\n'),
  )
}
