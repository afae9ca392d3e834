import type { Command } from 'commander'
import { stopSignal } from '../../common/cli/index.js'
import { countOf } from '../../common/errors/index.js'
import type { Leaderboard, LeaderboardKey } from '../../proto/index.js'
import { type JoinAddress, readKey } from '../../swarm/index.js'
import { fetchLeaderboard } from '../leaderboard/fetch-leaderboard.js'
import { nodeOption } from './arguments.js'
import { type ChosenRun, KNOWN_RUN_ARGUMENT, knownRunArgument, remember, runOf } from './chosen-run.js'
import { dataFolder } from './defaults.js'

interface LeaderboardOptions {
  readonly from: readonly JoinAddress[]
  readonly dataDir: string
  readonly json: boolean
}

/** Adds `prove-node leaderboard`: the credit of keys and teams, signed by the run. */
export function addLeaderboardCommand(program: Command): void {
  program
    .command('leaderboard')
    .description('Show keys and teams of a run by credit, and your place')
    .argument(...KNOWN_RUN_ARGUMENT, knownRunArgument)
    .option(
      '--from <address>',
      'another node of the run to ask, ending in /p2p/ and its key; repeatable',
      nodeOption,
      [],
    )
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--json', 'print JSON on stdout', false)
    .action(async (chosen: ChosenRun, { from, dataDir, json }: LeaderboardOptions) => {
      const run = await runOf(chosen, dataDir)
      const { coordinator } = run
      const own = (await readKey(dataDir))?.peerId ?? null
      const { signal } = stopSignal()
      const leaderboard = await fetchLeaderboard([coordinator, ...from], coordinator.peerId, own, signal)
      await remember(dataDir, run)
      process.stdout.write(
        json
          ? `${JSON.stringify({ run: coordinator.peerId, ...leaderboard, own })}\n`
          : leaderboardText(leaderboard, own),
      )
    })
}

/** Formats a leaderboard. @param own  key whose line gets a mark */
export function leaderboardText(
  { version, issuedAtMs, keys, teams, allKeys, allTeams, asked }: Leaderboard,
  own: string | null,
): string {
  const head = `version ${version}, ${new Date(issuedAtMs).toISOString()}`
  if (keys.length === 0) return `${head}: no key has credit yet\n`
  const width = Math.max(...keys.map(({ credit }) => points(credit).length))
  const keyLine = (rank: number, { peerId, team, credit }: LeaderboardKey): string => {
    const mark = peerId === own ? '*' : ' '
    return `${mark}${String(rank).padStart(5)}  ${points(credit).padStart(width)}  ${peerId}${team === null ? '' : `  ${team}`}`
  }
  const place = asked !== null && asked.key.peerId === own ? asked : null
  const isListed = keys.some(({ peerId }) => peerId === own)
  return [
    `${head}: ${countOf(allKeys, 'key')} and ${countOf(allTeams, 'team')} with credit`,
    '',
    ...keys.map((key, i) => keyLine(i + 1, key)),
    ...(allKeys > keys.length ? [`       and ${countOf(allKeys - keys.length, 'key')} more`] : []),
    ...(place !== null && !isListed ? [keyLine(place.rank, place.key)] : []),
    ...(teams.length === 0 ? [] : ['', 'teams']),
    ...teams.map(({ name, keys: members, credit }, i) =>
      [String(i + 1).padStart(6), points(credit), name, `(${countOf(members, 'key')})`].join('  '),
    ),
    ...(allTeams > teams.length ? [`       and ${countOf(allTeams - teams.length, 'team')} more`] : []),
    ...ownLine(own, isListed || place !== null),
    '',
  ].join('\n')
}

function ownLine(own: string | null, hasPlace: boolean): string[] {
  if (own === null || hasPlace) return []
  return ['', `your key ${own} is not on the leaderboard`]
}

const points = (credit: number): string => Math.round(credit).toLocaleString('en')
