import type { Command } from 'commander'
import type { Verdict } from '../../proto/index.js'
import { verdictLine } from '../report/progress.js'
import type { RunLedger } from '../store/records.js'
import { dataFolder } from './defaults.js'
import { ledgersOf } from './kept-records.js'

/** Adds `prove-node verdicts`: the verdicts that the node has recorded. */
export function addVerdictsCommand(program: Command): void {
  program
    .command('verdicts')
    .description('List the verdicts on your groups, from the records of this node')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--json', 'print JSON on stdout', false)
    .action(async ({ dataDir, json }: { dataDir: string; json: boolean }) => {
      const runs = await ledgersOf(dataDir)
      if (json) process.stdout.write(`${JSON.stringify({ runs })}\n`)
      else process.stdout.write(runs.length === 0 ? 'no verdicts yet\n' : runs.map(text).join('\n'))
    })
}

function text({ run, totals, missing, verdicts }: RunLedger): string {
  const last = new Map<string, Verdict>()
  const lines = [`run ${run}`]
  for (const verdict of verdicts) {
    const at = new Date(verdict.receivedAtMs).toISOString()
    lines.push(`${at}  ${verdictLine(verdict, last.get(verdict.leaseId) ?? null)}`)
    last.set(verdict.leaseId, verdict)
  }
  const { groups, accepted, refused, revoked, credit, reasons } = totals
  const why = reasons.map(({ code, groups: number }) => `${code} ${number}`).join(', ')
  lines.push(
    `${groups} groups: ${accepted} accepted, ${refused} refused${why === '' ? '' : ` (${why})`}, ${revoked} of them after an audit; credit ${credit}`,
  )
  if (missing > 0)
    lines.push(
      `${missing} verdicts are missing here: the disk lost them. The coordinator has counted them; the node asks for the newest at its next start`,
    )
  return `${lines.join('\n')}\n`
}
