import Table from 'cli-table3'
import { createAuditLottery } from '../../coordinator/intake/audit-lottery.js'
import { auditShare, Reputation } from '../../coordinator/ledger/reputation.js'
import { seededRandom } from '../../servers/kernel/index.js'

/** What is played: real standings and a real lottery, groups that are nothing but honest or not, and time that is counted in groups. */
const KEYS = 10
const GROUPS = 5000
const AUDITS = { probation: 20, leastShare: 0.1 }
/** A group is in a batch when so many of its key have come after it. What is caught before is taken back. */
const BATCH_AFTER = 4
/** Share of honest groups that an audit refuses: as many as calibrations allow, and as many as were rather measured. */
const [ALLOWED, MEASURED] = [0.005, 0.001]
/** A key asks again when its quarantine is over. */
const GROUP_MS = 60_000

/** A key's way to work: whether its next group is bad, `streak` groups after the last refusal. */
interface Habit {
  readonly name: string
  readonly falseAlarms?: number
  isBad(streak: number, chance: (share: number) => boolean): boolean
}

const HABITS: readonly Habit[] = [
  { name: 'honest, 1 in 200 rejected by chance', isBad: () => false },
  { name: 'honest, 1 in 1,000 rejected by chance', isBad: () => false, falseAlarms: MEASURED },
  { name: '5 % bad, after 200 passed in a row', isBad: (streak, chance) => streak >= 200 && chance(0.05) },
  { name: '5 % bad, after 20 passed in a row', isBad: (streak, chance) => streak >= 20 && chance(0.05) },
  { name: 'all bad, after 200 passed in a row', isBad: (streak) => streak >= 200 },
  { name: 'all bad, after 100 passed in a row', isBad: (streak) => streak >= 100 },
  { name: 'half bad', isBad: (_, chance) => chance(0.5) },
]

/** Means over keys. */
export interface Economy {
  readonly habit: string
  /** Every group that no audit has looked at is audited by the batch that takes it, before it is trained on. */
  readonly checkedBeforeTraining: boolean
  /** Groups that the key could deliver before it was excluded. */
  readonly delivered: number
  readonly trainedBad: number
  /** Refused by their audit, or taken back by one that followed. */
  readonly caught: number
  readonly audited: number
  readonly quarantines: number
  /** Share of the keys that get no work any more. */
  readonly excluded: number
}

/** What a habit gets past the audits. Every audited bad group is refused. */
function play(habit: Habit, checkedBeforeTraining: boolean, seed: number): Economy {
  const lottery = createAuditLottery(Buffer.alloc(32, seed))
  const sums = { delivered: 0, trainedBad: 0, caught: 0, audited: 0, quarantines: 0, excluded: 0 }
  for (let key = 0; key < KEYS; key++) {
    const random = seededRandom(KEYS * seed + key)
    const reputation = new Reputation()
    let atMs = 0
    let wasQuarantined = false
    /** Accepted unaudited, in no batch yet: whether each is bad. */
    let waiting: boolean[] = []
    const fail = (): void => {
      reputation.refused('sampler_mismatch', atMs)
      sums.caught += 1
    }
    /** A key that was caught is not believed for what is in no batch yet. */
    const doubt = (): void => {
      for (const bad of waiting) {
        sums.audited += 1
        if (bad) fail()
        else reputation.accepted(true)
      }
      waiting = []
    }
    const isCaught = (bad: boolean): boolean => {
      sums.audited += 1
      if (!(bad || random.chance(habit.falseAlarms ?? ALLOWED))) return false
      fail()
      doubt()
      return true
    }
    const train = (bad: boolean): void => {
      if (!checkedBeforeTraining) sums.trainedBad += Number(bad)
      else if (!isCaught(bad)) reputation.passed()
    }
    for (let group = 0; group < GROUPS && reputation.quarantinedUntilMs !== null; group++) {
      atMs = Math.max(atMs + GROUP_MS, reputation.quarantinedUntilMs)
      sums.delivered += 1
      const isBad = habit.isBad(reputation.streak, (share) => random.chance(share))
      const drawn = lottery.draws(`${seed} ${key} ${group}`, auditShare(reputation, AUDITS))
      if (!(drawn && isCaught(isBad))) {
        reputation.accepted(drawn)
        if (!drawn) waiting.push(isBad)
        while (waiting.length > BATCH_AFTER) train(waiting.shift()!)
      }
      const isQuarantined = reputation.isQuarantined(atMs)
      if (isQuarantined && !wasQuarantined) sums.quarantines += 1
      wasQuarantined = isQuarantined && reputation.quarantinedUntilMs === null
    }
    if (reputation.quarantinedUntilMs === null) sums.excluded += 1
  }
  const means = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / KEYS])) as typeof sums
  return { habit: habit.name, checkedBeforeTraining, ...means }
}

export const economics = (seed = 1): Economy[] =>
  [false, true].flatMap((checked) => HABITS.map((habit) => play(habit, checked, seed)))

const ROWS: readonly (readonly [head: string, cell: (economy: Economy) => string])[] = [
  ['groups of the key', ({ habit }) => habit],
  ['checked before training', ({ checkedBeforeTraining }) => (checkedBeforeTraining ? 'all' : 'audited ones')],
  ['delivered', ({ delivered }) => delivered.toFixed(0)],
  ['bad ones trained on', ({ trainedBad }) => trainedBad.toFixed(1)],
  ['caught', ({ caught }) => caught.toFixed(1)],
  ['audited', ({ audited, delivered }) => `${((100 * audited) / delivered).toFixed(0)} %`],
  ['quarantines', ({ quarantines }) => quarantines.toFixed(2)],
  ['keys excluded', ({ excluded }) => `${(100 * excluded).toFixed(0)} %`],
]

/** For the terminal. */
export function economicsTable(rows: readonly Economy[]): string {
  const table = new Table({ head: ROWS.map(([head]) => head), style: { head: [], border: [] } })
  for (const economy of rows) table.push(ROWS.map(([, cell]) => cell(economy)))
  return table.toString()
}

/** Returns the table of docs/explain/attackers.md: runs with a calibration, which audit every group before they train on it. */
export function economicsMarkdown(rows: readonly Economy[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const omitted = ['checked before training', 'bad ones trained on', 'audited']
  const columns = ROWS.filter(([head]) => !omitted.includes(head))
  return [
    line(columns.map(([head]) => head)),
    line(columns.map((_, i) => (i < 1 ? '---' : '---:'))),
    ...rows
      .filter(({ checkedBeforeTraining }) => checkedBeforeTraining)
      .map((economy) => line(columns.map(([, cell]) => cell(economy)))),
  ].join('\n')
}
