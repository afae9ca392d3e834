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

/** What a worker needs to have the stage that the coordinator has. */
export interface Surroundings {
  /** The base model's file, for its vocabulary and template, which have to be these. */
  readonly base: { readonly path: string; readonly vocabularySize: number; readonly chatTemplate: string }
  readonly toolCallFormat: string
  readonly reward: string
  /** Names of the worlds of the task set. */
  readonly environments: readonly string[]
  /** Folders of those that are not of this package, and the code that was found there. */
  readonly outside: readonly { readonly folder: string; readonly codeSha256: string }[]
}

export interface ReplayJob {
  readonly surroundings: Surroundings
  readonly request: ReplayRequest
}

export interface CheckRun {
  readonly number: CheckNumber
  readonly outcome: CheckOutcome
  readonly ms: number
}

/** What a worker says of a group: an error keeps its class no further than the process. */
export interface ReplayAnswer {
  readonly checks: readonly CheckRun[]
  readonly result:
    | { readonly is: 'replayed'; readonly rollouts: readonly Rollout[] }
    | {
        readonly is: 'refused'
        readonly effect: GossipEffect
        readonly code: RefusalCode
        readonly detail: string
        /** The worlds that disagree with themselves, if that is why. */
        readonly unstable: readonly string[] | null
      }
    /** Nothing is known of the group: something here is not as it should be. */
    | { readonly is: 'failed'; readonly why: string }
}

/** As many as a stage keeps prepared, which it knows by their objects. */
const KEPT_TASKS = 32
// An interrupt from the terminal reaches all processes there. The coordinator ends this one when it has no more groups.
process.on('SIGINT', () => undefined)

const NEVER = new AbortController().signal

const tasks = new LRUCache<string, Task>({ max: KEPT_TASKS })
const checks: CheckRun[] = []
const watch: CheckWatch = {
  now: () => performance.now(),
  onCheck: (number, outcome, ms) => void checks.push({ number, outcome, ms }),
}
let opened: { readonly name: string; readonly replays: Promise<Replays> } | undefined

/** Judges a group by its body: the function that a worker process runs. It keeps nothing that a result could depend on. */
export default async function replayGroup({ surroundings, request }: ReplayJob): Promise<ReplayAnswer> {
  checks.length = 0
  const result = await judge(surroundings, request).catch(answerOf)
  return { checks: [...checks], result }
}

async function judge(surroundings: Surroundings, request: ReplayRequest): Promise<ReplayAnswer['result']> {
  const name = JSON.stringify(surroundings)
  if (opened?.name !== name) opened = { name, replays: open(surroundings) }
  const { expected } = request
  const task = tasks.get(expected.task.id) ?? expected.task
  tasks.set(task.id, task)
  // Whoever does not want the answer any more ends the process.
  const rollouts = await (await opened.replays).judge({ ...request, expected: { ...expected, task } }, NEVER)
  return { is: 'replayed', rollouts }
}

/** @throws Error when this is not what the coordinator found at its start: honest groups would be refused by it */
async function open({ base, toolCallFormat, reward, environments, outside }: Surroundings): Promise<Replays> {
  const admitted = await admitEnvironments(outside.map(({ folder }) => folder))
  for (const [i, { name, codeSha256 }] of admitted.entries())
    if (codeSha256 !== outside[i]!.codeSha256)
      throw new Error(`the code of the world ${name} has changed since the coordinator was started: start it again`)
  const tokenizer = await openTokenizer(base.path)
  if (tokenizer.vocabularySize !== base.vocabularySize || tokenizer.chatTemplate !== base.chatTemplate)
    throw new Error(`${base.path} is not the file any more that the coordinator was started with`)
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
