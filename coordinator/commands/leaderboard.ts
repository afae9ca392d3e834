import type { Command } from 'commander'
import { RunFold } from '../ledger/run-reducer.js'
import { type Ranking, rankingOf } from '../report/leaderboard.js'
import { interruptible } from './interruptible.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'
import { tableOf } from './table.js'

export function addBoardCommand(program: Command): void {
  withRunOptions(
    program
      .command('board')
      .description('Keys and teams by credit: all of them, as "prove-node board" shows the first'),
  )
    .option('--json', 'one JSON object on stdout', false)
    .action(board)
}

async function board(options: RunOptions & { json: boolean }): Promise<void> {
  const dataDir = dataDirOf('board', options)
  await interruptible('the command', async (signal) => {
    const fold = new RunFold()
    for await (const event of readEvents(dataDir, signal)) fold.apply(event)
    const ranking = rankingOf(fold)
    process.stdout.write(`${options.json ? JSON.stringify(ranking) : boardText(ranking)}\n`)
  })
}

export function boardText({ keys, teams }: Ranking): string {
  if (keys.length === 0) return 'nobody has earned anything yet'
  const ranked = (names: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
    tableOf(
      ['rank', ...names].map((name) => ({ name, left: name === 'key' || name === 'team' })),
      rows.map((row, i) => [i + 1, ...row]),
    )
  const ofKeys = ranked(
    ['credit', 'key', 'team'],
    keys.map(({ peerId, team, credit }) => [Math.round(credit), peerId, team ?? '-']),
  )
  if (teams.length === 0) return ofKeys
  const ofTeams = ranked(
    ['credit', 'team', 'keys'],
    teams.map(({ name, keys: members, credit }) => [Math.round(credit), name, members]),
  )
  return `${ofKeys}\n\n${ofTeams}`
}
