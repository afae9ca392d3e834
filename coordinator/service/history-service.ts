import type { PrivateKey } from '@libp2p/interface'
import { type LogHead, refusal, sealHead, type VerdictRequest, type VerdictResponse } from '../../proto/index.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'

/** Answers questions about the history of the run, signed, so that a contradiction is a proof. */
export interface HistoryService {
  /**
   * Returns the proof of a verdict, or an earlier head of the log.
   * @throws SwarmRefusal `not_found` if the log does not have it (any more), `rate_limited`
   */
  answer(
    request: Pick<VerdictRequest, 'proofOf' | 'headAt'>,
    asker: string,
  ): Promise<Pick<VerdictResponse, 'head' | 'proof'>>
}

export interface HistoryServiceParts {
  readonly recorder: Pick<Recorder, 'state' | 'head' | 'headAt'>
  readonly key: PrivateKey
  readonly runId: string
  readonly clock: Pick<Clock, 'now' | 'elapsedMs'>
}

/** A proof hashes all verdicts for a step, and an earlier head reads the log. */
const QUESTIONS = { perMinute: 6, atOnce: 12 }
const QUESTIONS_OF_ALL = 600

export function createHistoryService({ recorder, key, runId, clock }: HistoryServiceParts): HistoryService {
  const limits = {
    ofKey: createRateLimit(clock, QUESTIONS.perMinute, QUESTIONS.atOnce),
    all: createRateLimit(clock, QUESTIONS_OF_ALL),
  }
  const seal = (head: LogHead, isPast: boolean): Promise<Uint8Array> =>
    sealHead(key, runId, { head, issuedAtMs: clock.now(), isPast })
  const earlierHead = async (events: number): Promise<Uint8Array> => {
    const place = await recorder.headAt(events)
    // Without the place, the answer is the current head: the log is shorter than the asker believes.
    return seal({ ...recorder.head(), ...place }, place !== null)
  }
  return {
    async answer({ proofOf, headAt }, asker) {
      if (proofOf === undefined && headAt === undefined) return {}
      if (!limits.ofKey.allow(asker) || !limits.all.allow('all'))
        throw refusal('rate_limited', 'too many questions about the history of the run')
      if (headAt !== undefined) return { head: await earlierHead(headAt) }
      const proven = recorder.state.verdictTrees.prove(proofOf!)
      if (!proven) throw refusal('not_found', 'there is no verdict on this lease among those of the last steps')
      const { step, index, leaf, count, root, path } = proven
      const head = await seal({ ...recorder.head(), step, verdicts: count, verdictsRoot: root }, false)
      return { head, proof: { leaf, index, path } }
    },
  }
}
