import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { RunReducer } from '../ledger/run-reducer.js'
import { type Ranking, rankingOf } from '../report/leaderboard.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'
import { tableOf } from './table.js'

export function addLeaderboardCommand(program: Command): void {
  withRunOptions(program.command('leaderboard').description('Show all keys and teams by credit'))
    .option('--json', 'print JSON on stdout', false)
    .action(leaderboard)
}

async function leaderboard(options: RunOptions & { json: boolean }): Promise<void> {
  const dataDir = dataDirOf(options)
  await interruptible('', async (signal) => {
    const reducer = new RunReducer()
    for await (const event of readEvents(dataDir, signal)) reducer.apply(event)
    const ranking = rankingOf(reducer)
    process.stdout.write(`${options.json ? JSON.stringify(ranking) : leaderboardText(ranking)}\n`)
  })
}

export function leaderboardText({ keys, teams }: Ranking): string {
  if (keys.length === 0) return 'no key has earned credit yet'
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
