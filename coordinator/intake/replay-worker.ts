import { LRUCache } from 'lru-cache'
import { type GossipEffect, type RefusalCode, SwarmRefusal } from '../../proto/index.js'
import { openTokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, type Rollout, rulesNamed, type Task } from '../../rollout/episode/index.js'
import {
  type CheckNumber,
  type CheckOutcome,
  type CheckWatch,
  NondeterministicEnvironments,
} from '../../rollout/verification/index.js'
import { admitEnvironments, loadEnvironments } from '../../servers/catalogue.js'
import { replayContexts } from './replay-contexts.js'
import { type ReplayRequest, type Replays, replaysHere } from './replays.js'

/** Everything that a worker needs to make the same replay context as the coordinator. */
export interface ReplaySetup {
  /** File of the base model, with the vocabulary size and template that it must have. */
  readonly base: { readonly path: string; readonly vocabularySize: number; readonly chatTemplate: string }
  readonly toolCallFormat: string
  readonly reward: string
  /** Names of the environments of the task set. */
  readonly environments: readonly string[]
  /** Folders of environments that are not part of this package, with the hash of their code. */
  readonly outside: readonly { readonly folder: string; readonly codeSha256: string }[]
}

export interface ReplayJob {
  readonly setup: ReplaySetup
  readonly request: ReplayRequest
}

export interface CheckRun {
  readonly number: CheckNumber
  readonly outcome: CheckOutcome
  readonly ms: number
}

/** Answer of a worker. Errors lose their class between processes. */
export interface ReplayAnswer {
  readonly checks: readonly CheckRun[]
  readonly result:
    | { readonly is: 'replayed'; readonly rollouts: readonly Rollout[] }
    | {
        readonly is: 'refused'
        readonly effect: GossipEffect
        readonly code: RefusalCode
        readonly detail: string
        /** Nondeterministic environments, if they are the reason. */
        readonly unstable: readonly string[] | null
      }
    /** The worker failed, so nothing is known about the group. */
    | { readonly is: 'failed'; readonly why: string }
}

/** Number of tasks that a runtime keeps prepared, which it recognises by identity. */
const KEPT_TASKS = 32
// Ctrl-C reaches all processes of the terminal. The coordinator ends this process when it has no more groups.
process.on('SIGINT', () => undefined)

const NEVER = new AbortController().signal

const tasks = new LRUCache<string, Task>({ max: KEPT_TASKS })
const checks: CheckRun[] = []
const watch: CheckWatch = {
  now: () => performance.now(),
  onCheck: (number, outcome, ms) => void checks.push({ number, outcome, ms }),
}
let opened: { readonly name: string; readonly replays: Promise<Replays> } | undefined

/** Replays a group: the function that a worker process runs. Keeps no state that could affect a result. */
export default async function replayGroup({ setup, request }: ReplayJob): Promise<ReplayAnswer> {
  checks.length = 0
  const result = await judge(setup, request).catch(answerOf)
  return { checks: [...checks], result }
}

async function judge(setup: ReplaySetup, request: ReplayRequest): Promise<ReplayAnswer['result']> {
  const name = JSON.stringify(setup)
  if (opened?.name !== name) opened = { name, replays: open(setup) }
  const { expected } = request
  const task = tasks.get(expected.task.id) ?? expected.task
  tasks.set(task.id, task)
  // Cancellation ends the process.
  const rollouts = await (await opened.replays).judge({ ...request, expected: { ...expected, task } }, NEVER)
  return { is: 'replayed', rollouts }
}

/** @throws Error when files differ from those that the coordinator has loaded, because honest groups would be refused */
async function open({ base, toolCallFormat, reward, environments, outside }: ReplaySetup): Promise<Replays> {
  const admitted = await admitEnvironments(outside.map(({ folder }) => folder))
  for (const [i, { name, codeSha256 }] of admitted.entries())
    if (codeSha256 !== outside[i]!.codeSha256)
      throw new Error(
        `the code of environment ${name} has changed since the coordinator started: restart the coordinator`,
      )
  const tokenizer = await openTokenizer(base.path)
  if (tokenizer.vocabularySize !== base.vocabularySize || tokenizer.chatTemplate !== base.chatTemplate)
    throw new Error(
      `${base.path} has changed since the coordinator started: restart the coordinator with the original file`,
    )
  const definitions = [...(await loadEnvironments(environments)).values()]
  const runtime = createEpisodeRuntime(definitions, tokenizer, rulesNamed({ toolCallFormat, reward }))
  return replaysHere(replayContexts(runtime, definitions), watch)
}

function answerOf(why: unknown): ReplayAnswer['result'] {
  if (!(why instanceof SwarmRefusal)) return { is: 'failed', why: why instanceof Error ? `${why.stack}` : String(why) }
  const { effect, code, detail } = why
  return {
    is: 'refused',
    effect,
    code,
    detail,
    unstable: why instanceof NondeterministicEnvironments ? why.environments : null,
  }
}
