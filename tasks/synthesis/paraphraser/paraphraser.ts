import { setTimeout as pause } from 'node:timers/promises'
import {
  type Budget,
  budgetedChat,
  ChatFailure,
  type ChatModel,
  isPassing,
  openChat,
  type Source,
  type Spending,
} from '../../../rollout/chat/index.js'
import { deriveSeed, type Environment } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import { type Brief, briefOf } from './brief.js'
import { type Cache, type Finished, openCache } from './cache.js'
import { problemsIn } from './check.js'
import { ParaphraserError, type Problem, type ProblemKind } from './errors.js'
import { PARAPHRASER_LIMITS, type ParaphraserLimits } from './limits.js'
import { promptFor, type Voice } from './prompt.js'
import { REPLY_FORM, wordsOf } from './reply.js'
import { retell } from './retell.js'

export interface ParaphraserOptions {
  readonly source: Source
  readonly catalogue: ReadonlyMap<string, Environment>
  /** Folder in which finished rephrasings are kept, so that a run that was stopped goes on. */
  readonly cacheFolder: string
  readonly budget: Budget
  readonly limits?: Partial<ParaphraserLimits>
}

export interface RephraseContext extends Voice {
  /** Reference date, YYYY-MM-DD. */
  readonly today: string
  readonly signal: AbortSignal
}

export interface Rephrased {
  /** With the teacher's words and `speech: 'paraphrased'`, or as it was. */
  readonly example: Example
  /** Requests that were made for it, now or when it was cached. */
  readonly attempts: number
  readonly outcome: 'paraphrased' | 'kept'
  /** What went wrong on the way, in this run. */
  readonly problems: readonly Problem[]
}

/** What a teacher did in this run. */
export interface ParaphraserReport extends Spending {
  readonly paraphraser: string
  readonly examples: number
  readonly rephrased: number
  readonly kept: number
  /** Of the examples, those that were finished in an earlier run. */
  readonly fromCache: number
  readonly damagedCacheLines: number
  /** Failed requests, refused replies (by all that was wrong with them), and examples that were not tried. */
  readonly problems: Readonly<Partial<Record<ProblemKind, number>>>
}

/** A language model that puts the words of examples. */
export interface Paraphraser {
  readonly name: string
  /**
   * Puts an example into other words, or leaves it as it is when no reply can be used. Several may run at once.
   * @throws TeacherError `cache_failed`, `closed`; the signal's reason when it aborts
   */
  rephrase(example: Example, context: RephraseContext): Promise<Rephrased>
  report(): ParaphraserReport
  close(): Promise<void>
}

/**
 * Opens the teacher: asks a server for its models unless one is named, or loads a model file.
 * @throws TeacherError `bad_options`, `cache_failed`; ChatError; the signal's reason when it aborts
 */
export async function createParaphraser(options: ParaphraserOptions, signal: AbortSignal): Promise<Paraphraser> {
  const limits: ParaphraserLimits = { ...PARAPHRASER_LIMITS, ...options.limits }
  checkNumbers({ ...options.budget, ...limits })
  const model = await openChat(options.source, limits.timeoutMs, signal)
  try {
    return paraphraserOf(model, await openCache(options.cacheFolder, model.name), options, limits)
  } catch (error) {
    await model.close()
    throw error
  }
}

function checkNumbers(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers))
    if (!(value >= 1)) throw new ParaphraserError('bad_options', `${name} must be at least 1`)
}

/** Of those who put words; other words are wanted where the first were refused. */
const TEMPERATURE = 0.8

function paraphraserOf(
  model: ChatModel,
  cache: Cache,
  { catalogue, budget }: ParaphraserOptions,
  limits: ParaphraserLimits,
): Paraphraser {
  const chat = budgetedChat(model, budget, limits.failuresInARow)
  const counts: Partial<Record<ProblemKind, number>> = {}
  const done = { examples: 0, rephrased: 0, kept: 0, fromCache: 0 }
  const stopped = new AbortController()
  let closing: Promise<void> | undefined

  const note = (problems: Problem[], found: readonly Problem[]): void => {
    for (const problem of found) {
      problems.push(problem)
      counts[problem.kind] = (counts[problem.kind] ?? 0) + 1
    }
  }

  const ask = async (
    example: Example,
    brief: Brief,
    { today, ...voice }: RephraseContext,
    signal: AbortSignal,
  ): Promise<Rephrased & { readonly finished: boolean }> => {
    const problems: Problem[] = []
    let last: readonly Problem[] = []
    let [attempts, replies, failures] = [0, 0, 0]
    const kept = (finished: boolean) => ({ example, attempts, outcome: 'kept' as const, problems, finished })
    while (replies < limits.replies && failures < limits.failures) {
      signal.throwIfAborted()
      const prompt = promptFor(example, brief, voice, last)
      const seed = deriveSeed('prove/teacher/1', Number.parseInt(example.task.id.slice(0, 8), 16), replies) % 2 ** 31
      const asking = { ...prompt, maxTokens: limits.replyTokens, seed, temperature: TEMPERATURE, form: REPLY_FORM }
      const reply = await chat.ask(asking, signal)
      if (reply instanceof ChatFailure) {
        attempts++
        failures++
        note(problems, [{ kind: reply.kind, detail: reply.message }])
        if (!isPassing(reply)) return kept(reply.kind === 'rejected')
        if (failures < limits.failures && !chat.isDown) {
          const wanted = reply.retryAfterMs ?? limits.backoffMs * 2 ** (failures - 1)
          await pause(Math.min(wanted, limits.longestPauseMs), undefined, { signal })
        }
        continue
      }
      if ('kind' in reply) {
        note(problems, [reply])
        return kept(false)
      }
      attempts++
      replies++
      const stated = taken(example, brief, wordsOf(reply, brief), today)
      if (!Array.isArray(stated)) return { example: stated, attempts, outcome: 'paraphrased', problems, finished: true }
      note(problems, stated)
      last = stated
    }
    return kept(failures < limits.failures)
  }

  return {
    name: model.name,
    async rephrase(example, context) {
      if (closing) throw new ParaphraserError('closed', 'the teacher was closed')
      const signal = AbortSignal.any([context.signal, stopped.signal])
      signal.throwIfAborted()
      const brief = briefOf(example, context.today, catalogue)
      const known = recalled(example, brief, cache.get(example.task.id), context.today)
      const made = known ?? (await ask(example, brief, context, signal))
      if (!known && 'finished' in made && made.finished) {
        const turns =
          made.outcome === 'kept' ? null : made.example.exchanges.map(({ user, assistant }) => ({ user, assistant }))
        await cache.put(example.task.id, { attempts: made.attempts, turns })
      }
      done.examples++
      done.fromCache += known ? 1 : 0
      done[made.outcome === 'kept' ? 'kept' : 'rephrased']++
      const { attempts, outcome, problems } = made
      return { example: made.example, attempts, outcome, problems }
    },
    report: () => ({
      paraphraser: model.name,
      ...done,
      ...chat.spent(),
      damagedCacheLines: cache.damaged,
      problems: { ...counts },
    }),
    close() {
      stopped.abort(new ParaphraserError('closed', 'the teacher was closed'))
      closing ??= model.close().finally(() => cache.close())
      return closing
    },
  }
}

/** A reply's words in their example, or why they are not taken. */
function taken(example: Example, brief: Brief, words: ReturnType<typeof wordsOf>, today: string): Example | Problem[] {
  if (!Array.isArray(words)) return [words]
  const problems = problemsIn(words, brief)
  if (problems.length > 0) return problems
  const stated = retell(example, words, today)
  return 'kind' in stated ? [stated] : stated
}

/** What the cache knows of an example. Its words are judged like a reply's: the file may hold anything. */
function recalled(
  example: Example,
  brief: Brief,
  finished: Finished | undefined,
  today: string,
): Rephrased | undefined {
  if (!finished) return undefined
  const { attempts, turns } = finished
  if (turns === null) return { example, attempts, outcome: 'kept', problems: [] }
  const stated = taken(example, brief, turns, today)
  return Array.isArray(stated) ? undefined : { example: stated, attempts, outcome: 'paraphrased', problems: [] }
}
