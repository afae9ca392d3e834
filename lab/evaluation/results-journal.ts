import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type PlayedTogether, type Task, understoodSchema } from '../../rollout/episode/index.js'
import { FAILURE_CLASSES } from '../../rollout/reward/index.js'
import { type Journal, JournalError, openJournal } from '../journal.js'

const policy = z.int().min(0)
const played = z.strictObject({
  rewards: z.record(z.string(), z.number()),
  failure: z.enum(FAILURE_CLASSES).nullable(),
  calls: z.int().min(0),
  understood: z.array(understoodSchema).exactOptional(),
})
const playedTogether = z.strictObject({ policy, from: z.int().min(0), played: z.array(played) })
/** Backend on which a policy was played. */
const onBackend = z.strictObject({ policy, backend: z.string() })
const line = z.union([playedTogether, onBackend])
type Line = z.output<typeof line>

/** Results of an evaluation, which are stored if the user named a folder. */
export interface ResultsJournal {
  /** Results so far, also of earlier runs. */
  readonly results: readonly PlayedTogether[]
  add(result: PlayedTogether): Promise<void>
  /** Returns the backend on which a policy was played; undefined if it was not yet. */
  backendOf(policy: number): string | undefined
  /** Stores the backend of a policy. @throws JournalError `other_work` if it was played on another one */
  setBackend(policy: number, backend: string): Promise<void>
  /** Brings the lines of the file into a fixed order, whichever rollouts ended first. */
  finish(): Promise<void>
}

/**
 * Opens the journal of an evaluation.
 * @param file  undefined: nothing is stored
 * @param work  JSON description of the evaluation
 * @throws JournalError
 */
export async function openResultsJournal(file: string | undefined, work: object): Promise<ResultsJournal> {
  const journal: Pick<Journal<Line>, 'earlier' | 'add' | 'replace'> = file === undefined
    ? { earlier: [], add: async () => undefined, replace: async () => undefined }
    : await openJournal<Line>(file, { schema: 6, ...work }, line)
  const results: PlayedTogether[] = []
  const backends = new Map<number, string>()
  for (const one of journal.earlier) {
    if ('backend' in one) backends.set(one.policy, one.backend)
    else results.push(one)
  }
  return {
    results,
    async add(result) {
      await journal.add([result as Line])
      results.push(result)
    },
    backendOf: (index) => backends.get(index),
    async setBackend(index, backend) {
      const earlier = backends.get(index)
      if (earlier !== undefined && earlier !== backend)
        throw new JournalError(
          'other_work',
          `${file} has results of the backend ${earlier}, and this machine has ${backend}: name another folder with --out`,
        )
      if (earlier === undefined) await journal.add([{ policy: index, backend }])
      backends.set(index, backend)
    },
    finish: () =>
      journal.replace([
        ...[...backends].sort(([a], [b]) => a - b).map(([index, backend]) => ({ policy: index, backend })),
        ...([...results].sort((a, b) => a.policy - b.policy || a.from - b.from) as Line[]),
      ]),
  }
}

/** Returns the hash of a list of tasks. */
export const tasksHash = (tasks: readonly Task[]): string =>
  createHash('sha256')
    .update(tasks.map(({ id }) => id).join())
    .digest('hex')
