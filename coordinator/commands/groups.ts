import { type Command, InvalidArgumentError } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { CodedError } from '../../common/errors/index.js'
import { type GroupReport, GroupsTally } from '../report/group-report.js'
import { shortKey, shortLease, timeOf } from '../report/words.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'
import { tableOf } from './table.js'

/** No lease id, or more than one, begins with the given text. */
class GroupError extends CodedError<'unknown_group' | 'ambiguous_group'> {}

interface ListOptions extends RunOptions {
  readonly node?: string
  readonly refused: boolean
  readonly last: number
  readonly json: boolean
}

const positive = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Give a positive integer.')
  return value
}

export function addGroupsCommand(program: Command): void {
  const groups = program.command('groups').description('Groups of a run, with their verdicts, audits and batches')
  withRunOptions(groups.command('list').description('List the groups that were delivered, newest last'))
    .option('--node <key>', 'only groups of this key; the end of the key suffices')
    .option('--refused', 'only groups that were refused, at once or by a later audit', false)
    .option('--last <number>', 'number of groups', positive, 20)
    .option('--json', 'print JSON on stdout, one object per line', false)
    .action(list)
  withRunOptions(groups.command('show').description('Show everything that the log contains about a group'))
    .argument('<lease>', 'id of its lease; the beginning suffices')
    .option('--json', 'print JSON on stdout', false)
    .action(show)
}

const readGroups = (dataDir: string): Promise<GroupsTally> =>
  interruptible('', async (signal) => {
    const tally = new GroupsTally()
    for await (const event of readEvents(dataDir, signal)) tally.add(event)
    return tally
  })

async function list(options: ListOptions): Promise<void> {
  const tally = await readGroups(dataDirOf(options))
  const wanted = [...tally.reports()].filter(
    ({ lease, verdict, audits }) =>
      verdict !== null &&
      (options.node === undefined || lease.node.endsWith(options.node)) &&
      (!options.refused || !verdict.accepted || audits.some(({ accepted }) => !accepted)),
  )
  const shown = wanted.sort((a, b) => a.verdict!.atMs - b.verdict!.atMs).slice(-options.last)
  process.stdout.write(
    options.json ? shown.map((group) => `${JSON.stringify(group)}\n`).join('') : `${listText(shown)}\n`,
  )
}

export function listText(groups: readonly GroupReport[]): string {
  if (groups.length === 0) return 'no group matches'
  const columns = ['lease', 'key', 'judged', 'version', 'task', 'verdict', 'rewards', 'batch']
  const right = new Set(['version', 'task'])
  return tableOf(
    columns.map((name) => ({ name, left: !right.has(name) })),
    groups.map(({ lease, verdict, audits, batches, unusedFor }) => [
      shortLease(lease.leaseId),
      shortKey(lease.node),
      timeOf(verdict!.atMs),
      lease.version,
      lease.taskIndex,
      audits.find(({ accepted }) => !accepted)?.code ??
        verdict!.code ??
        (verdict!.zeroVariance ? 'zero-variance' : 'accepted'),
      verdict!.rewards.map((reward) => reward.toFixed(2)).join(' '),
      batches.map(({ step, outcome }) => `step ${step} ${outcome}`).join(', ') || unusedFor || '-',
    ]),
  )
}

async function show(beginning: string, options: RunOptions & { json: boolean }): Promise<void> {
  const dataDir = dataDirOf(options)
  const found = (await readGroups(dataDir)).find(beginning)
  const [group] = found
  if (!group)
    throw new GroupError(
      'unknown_group',
      `no lease of ${dataDir} has an id that begins with ${beginning}: groups list shows them`,
    )
  if (found.length > 1)
    throw new GroupError(
      'ambiguous_group',
      `${found.length} leases have ids that begin with ${beginning}: type more of the id`,
    )
  process.stdout.write(`${options.json ? JSON.stringify(group) : groupText(group)}\n`)
}

export function groupText({ lease, verdict, audits, batches, unusedFor, released, bodyLost }: GroupReport): string {
  const lines = [
    `lease ${lease.leaseId}`,
    `of ${lease.node}, ${lease.backend}, for version ${lease.version}, round ${lease.round}, task ${lease.taskIndex}`,
    `leased ${timeOf(lease.atMs)}, ${verdict ? `judged ${timeOf(verdict.atMs)}` : `until ${timeOf(lease.deadlineMs)}`}`,
  ]
  if (released !== null) lines.push(`released: ${released}`)
  if (verdict) {
    const { accepted, code, detail, zeroVariance, audit, credit, rewards, solved, calls, sampledTokens } = verdict
    const outcome = accepted
      ? `accepted${zeroVariance ? ', without reward variance' : ''}`
      : `refused: ${code} ${detail}`
    lines.push(
      `${outcome}; audit: ${audit}; credit ${credit.toFixed(1)}`,
      `rewards ${rewards.map((reward) => reward.toFixed(3)).join(' ')}`,
      `${solved} of ${rewards.length} solved, ${calls} calls, ${sampledTokens} tokens sampled; body ${verdict.bodySha256}`,
    )
  }
  for (const { atMs, accepted, code, detail } of audits)
    lines.push(`audited ${timeOf(atMs)}: ${accepted ? 'passed' : `revoked: ${code} ${detail}`}`)
  for (const { batchId, step, outcome } of batches) lines.push(`batch ${batchId} for step ${step}: ${outcome}`)
  if (unusedFor !== null) lines.push(`not used for training: ${unusedFor}`)
  if (bodyLost !== null) lines.push(`its body is lost: ${bodyLost}`)
  return lines.join('\n')
}
