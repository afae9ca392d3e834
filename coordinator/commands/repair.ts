import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { BackupError } from '../backup/backup-error.js'
import { examineLog, type LogDamage, repairLog } from '../backup/repair-log.js'
import { dataDirOf, type RunOptions, withRunOptions } from './run-log.js'

interface RepairOptions extends RunOptions {
  readonly acceptLoss: boolean
}

export function addRepairCommand(program: Command): void {
  withRunOptions(
    program
      .command('repair')
      .description(
        'Keep the longest intact beginning of a damaged log; without --accept-loss only shows what would be lost',
      ),
  )
    .option('--accept-loss', 'replace the log; the damaged one is kept in a folder next to it', false)
    .action(repair)
}

async function repair(options: RepairOptions): Promise<void> {
  const dataDir = dataDirOf(options)
  process.umask(PRIVATE_UMASK)
  await interruptible('the log was not changed', async (signal) => {
    const damage = await examineLog(dataDir, signal)
    const write = (...lines: string[]): boolean => process.stdout.write(`${lines.join('\n')}\n`)
    if (damage.why === null) {
      write(`the log is intact: ${damage.intact.count} events`)
      return
    }
    write(...damageLines(damage))
    if (!options.acceptLoss)
      throw new BackupError(
        'not_accepted',
        `nothing was changed. A backup may contain more: look at dataDir/backups first. To continue without these events, repeat the command with --accept-loss`,
      )
    const aside = await repairLog(dataDir, damage, new Date(), signal)
    write(`the log has its first ${damage.intact.count} events; the damaged one is in ${aside}`)
    write('Continue the run with: prove-coordinator start')
  })
}

/** Most leases that are listed one by one. */
const LISTED = 200

/** Says exactly which events, groups and versions are lost. */
export function damageLines({ why, intact, count, state, readable }: LogDamage): string[] {
  const lost = count - intact.count
  const groups = readable.flatMap((event) => (event.type === 'judged' ? [event] : []))
  const versions = readable.flatMap((event) => (event.type === 'published' ? [event.version] : []))
  const others = readable.filter(({ type }) => type !== 'judged' && type !== 'published')
  const types = new Map<string, number>()
  for (const { type } of others) types.set(type, (types.get(type) ?? 0) + 1)
  const unreadable = lost - readable.length
  return [
    `${why}. The first ${intact.count} of ${count} events are intact, up to version ${state.current?.version ?? 'none'}.`,
    lost === 0 ? 'lost: nothing that is known' : `lost events: ${intact.count} to ${count - 1} (${lost})`,
    ...(versions.length > 0 ? [`lost versions: ${versions.join(', ')}`] : []),
    ...(groups.length > 0 ? [`lost groups: ${groups.length}`] : []),
    ...groups
      .slice(0, LISTED)
      .map(
        ({ leaseId, node, accepted, credit }) =>
          `  ${leaseId} of ${node}, ${accepted ? `accepted, ${credit} credits` : 'refused'}`,
      ),
    ...(groups.length > LISTED ? [`  and ${groups.length - LISTED} more`] : []),
    ...[...types].map(([type, number]) => `lost ${type}: ${number}`),
    ...(unreadable > 0 ? [`lost and unreadable: ${unreadable} events, which may be groups or versions too`] : []),
  ]
}
