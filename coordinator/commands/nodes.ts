import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { type NodeReport, type NodeReputation, NodesTally } from '../report/node-report.js'
import { countsOf, durationOf, numberOf, timeOf } from '../report/words.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'
import { tableOf } from './table.js'

export function addNodesCommand(program: Command): void {
  withRunOptions(
    program.command('nodes').description('List the keys of a run with their groups, credit and reputation'),
  )
    .option('--json', 'print JSON on stdout, one object per line', false)
    .action(nodes)
}

async function nodes(options: RunOptions & { json: boolean }): Promise<void> {
  const dataDir = dataDirOf(options)
  await interruptible('', async (signal) => {
    const tally = new NodesTally()
    for await (const event of readEvents(dataDir, signal)) tally.add(event)
    const nowMs = Date.now()
    const reports = tally.report(nowMs)
    process.stdout.write(
      options.json
        ? reports.map((node) => `${JSON.stringify({ ...node, refused: Object.fromEntries(node.refused) })}\n`).join('')
        : `${nodesText(reports, nowMs)}\n`,
    )
  })
}

/** @param nowMs  time of the report */
export function nodesText(reports: readonly NodeReport[], nowMs: number): string {
  if (reports.length === 0) return 'no key has asked for work yet'
  const columns = [
    'key',
    'reputation',
    'program',
    'backend',
    'tokens/s',
    'seen',
    'accepted',
    'zero variance',
    'refused',
    'open',
    'abandoned',
    'audits',
    'credit',
  ]
  const left = new Set(['reputation', 'program', 'backend', 'refused'])
  return tableOf(
    columns.map((name) => ({ name, left: left.has(name) })),
    reports.map((node) => [
      node.node,
      reputationText(node.reputation),
      node.agent ?? '-',
      node.backend ?? '-',
      numberOf(node.deliveredTokensPerSecond, 1),
      `${durationOf(nowMs - node.lastSeenAtMs)} ago`,
      node.accepted,
      node.zeroVariance,
      countsOf(node.refused) || '-',
      node.openLeases,
      node.abandoned,
      `${node.audits.all - node.audits.failed}/${node.audits.all}`,
      Math.round(node.credit),
    ]),
  )
}

const reputationText = (reputation: NodeReputation): string =>
  reputation.kind === 'quarantined' ? `quarantined until ${timeOf(reputation.untilMs)}` : reputation.kind
