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
import { problemsIn, type TurnWords } from './check.js'
import { ParaphraserError, type Problem, type ProblemKind } from './errors.js'
import { PARAPHRASER_LIMITS, type ParaphraserLimits } from './limits.js'
import { promptFor } from './prompt.js'
import { REPLY_FORM, wordsOf } from './reply.js'
import { retell } from './retell.js'

export interface ParaphraserOptions {
  readonly source: Source
  readonly catalogue: ReadonlyMap<string, Environment>
  /** Folder for finished rephrasings, so that a stopped synthesis can resume. */
  readonly cacheFolder: string
  readonly budget: Budget
  readonly limits?: Partial<ParaphraserLimits>
}

export interface RephraseContext {
  /** Reference date, YYYY-MM-DD. */
  readonly today: string
  readonly signal: AbortSignal
}

export interface Rephrased {
  /** Example with new words and `speech: 'paraphrased'`, or the unchanged example. */
  readonly example: Example
  /** Number of requests for the example, now or when it was cached. */
  readonly attempts: number
  readonly outcome: 'paraphrased' | 'kept'
  /** Problems in this run. */
  readonly problems: readonly Problem[]
}

/** Statistics of a paraphraser in this run. */
export interface ParaphraserReport extends Spending {
  readonly paraphraser: string
  readonly examples: number
  readonly rephrased: number
  readonly kept: number
  /** Number of examples that an earlier run finished. */
  readonly fromCache: number
  readonly damagedCacheLines: number
  /** Number of failed requests, rejected replies (once per objection) and skipped examples, by kind. */
  readonly problems: Readonly<Partial<Record<ProblemKind, number>>>
}

/** Paraphraser: a language model that rephrases the texts of examples. */
export interface Paraphraser {
  readonly name: string
  /**
   * Rephrases an example, or returns it unchanged if no reply is usable. Calls may run concurrently.
   * @throws ParaphraserError `cache_failed`, `closed`; the signal's reason when it aborts
   */
  rephrase(example: Example, context: RephraseContext): Promise<Rephrased>
  /** Returns the statistics so far. */
  report(): ParaphraserReport
  close(): Promise<void>
}

/**
 * Opens a paraphraser: connects to a server or loads a model file. Without a model name, the server lists its models.
 * @throws ParaphraserError `bad_options`, `cache_failed`; ChatError; the signal's reason when it aborts
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
    if (!(value >= 1)) throw new ParaphraserError('bad_options', `${name} is ${value} and must be at least 1`)
}

/** Sampling temperature: above zero, so that another attempt gives other words. */
const TEMPERATURE = 0.8

/** `isFinal`: another run would not give a better result, so that the cache keeps it. */
type Made = Rephrased & { readonly isFinal: boolean }

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

  const ask = async (
    example: Example,
    brief: Brief,
    { today }: RephraseContext,
    signal: AbortSignal,
  ): Promise<Made> => {
    const problems: Problem[] = []
    let last: readonly Problem[] = []
    let [replies, failures] = [0, 0]
    const note = (found: readonly Problem[]): void => {
      problems.push(...found)
      for (const { kind } of found) counts[kind] = (counts[kind] ?? 0) + 1
    }
    const ended = (result: Example, isFinal: boolean): Made => {
      const outcome = result === example ? 'kept' : 'paraphrased'
      return { example: result, attempts: replies + failures, outcome, problems, isFinal }
    }
    while (replies < limits.replies && failures < limits.failures) {
      signal.throwIfAborted()
      const prompt = promptFor(example, brief, last)
      const seed = deriveSeed('prove/teacher/1', Number.parseInt(example.task.id.slice(0, 8), 16), replies) % 2 ** 31
      const asking = { ...prompt, maxTokens: limits.replyTokens, seed, temperature: TEMPERATURE, form: REPLY_FORM }
      const reply = await chat.ask(asking, signal)
      if (reply instanceof ChatFailure) {
        failures++
        note([{ kind: reply.kind, detail: reply.message }])
        if (!isPassing(reply)) return ended(example, reply.kind === 'rejected')
        if (failures < limits.failures && !chat.isDown) {
          const wanted = reply.retryAfterMs ?? limits.backoffMs * 2 ** (failures - 1)
          await pause(Math.min(wanted, limits.longestPauseMs), undefined, { signal })
        }
        continue
      }
      if ('kind' in reply) {
        note([reply])
        return ended(example, false)
      }
      replies++
      const result = applied(example, brief, wordsOf(reply, brief), today)
      if (!Array.isArray(result)) return ended(result, true)
      note(result)
      last = result
    }
    return ended(example, failures < limits.failures)
  }

  return {
    name: model.name,
    async rephrase(example, context) {
      if (closing) throw new ParaphraserError('closed', 'the paraphraser was closed')
      const signal = AbortSignal.any([context.signal, stopped.signal])
      signal.throwIfAborted()
      const brief = briefOf(example, context.today, catalogue)
      const known = recalled(example, brief, cache.get(example.task.id), context.today)
      const { isFinal, ...made } = known ?? (await ask(example, brief, context, signal))
      if (!known && isFinal) {
        const turns =
          made.outcome === 'kept' ? null : made.example.exchanges.map(({ user, assistant }) => ({ user, assistant }))
        await cache.put(example.task.id, { attempts: made.attempts, turns })
      }
      done.examples++
      done.fromCache += known ? 1 : 0
      done[made.outcome === 'kept' ? 'kept' : 'rephrased']++
      return made
    },
    report: () => ({
      paraphraser: model.name,
      ...done,
      ...chat.spent(),
      damagedCacheLines: cache.damaged,
      problems: { ...counts },
    }),
    close() {
      stopped.abort(new ParaphraserError('closed', 'the paraphraser was closed'))
      closing ??= model.close().finally(() => cache.close())
      return closing
    },
  }
}

/** Returns the example with the words of a reply, or the objections. */
function applied(example: Example, brief: Brief, words: TurnWords[] | Problem, today: string): Example | Problem[] {
  if (!Array.isArray(words)) return [words]
  const problems = problemsIn(words, brief)
  if (problems.length > 0) return problems
  const result = retell(example, words, today)
  return 'kind' in result ? [result] : result
}

/** Returns the cached rephrasing of an example. Its words are checked like those of a reply, because the file may contain anything. */
function recalled(example: Example, brief: Brief, finished: Finished | undefined, today: string): Made | undefined {
  if (!finished) return undefined
  const { attempts, turns } = finished
  const made = { attempts, problems: [], isFinal: true }
  if (turns === null) return { ...made, example, outcome: 'kept' }
  const result = applied(example, brief, turns, today)
  return Array.isArray(result) ? undefined : { ...made, example: result, outcome: 'paraphrased' }
}
