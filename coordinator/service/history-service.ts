import type { PrivateKey } from '@libp2p/interface'
import {
  type LogHead,
  openRederivation,
  refusal,
  sealHead,
  type VerdictRequest,
  type VerdictResponse,
} from '../../proto/index.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'

/** Answers questions about the history of the run, signed, so that a contradiction is a proof. */
export interface HistoryService {
  /**
   * Returns the proof of a verdict, or an earlier head of the log. Records the result of a re-derivation.
   * @throws SwarmRefusal `not_registered` if a stranger has signed the result, `not_found` if the log does not have it (any more), `rate_limited`
   */
  answer(
    request: Pick<VerdictRequest, 'proofOf' | 'headAt' | 'rederivation'>,
    asker: string,
  ): Promise<Pick<VerdictResponse, 'head' | 'proof'>>
}

export interface HistoryServiceParts {
  readonly recorder: Pick<Recorder, 'state' | 'head' | 'headAt' | 'record'>
  readonly key: PrivateKey
  readonly runId: string
  /** Credit of a reported result, see `rederivation.credit`. */
  readonly credit: number
  readonly clock: Pick<Clock, 'now' | 'elapsedMs'>
}

/** An earlier head reads the log. */
const QUESTIONS = { perMinute: 6, atOnce: 12 }
const QUESTIONS_OF_ALL = 600
/** Reports on a version that earn credit. */
const CREDITED_REPORTS = 3

export function createHistoryService({ recorder, key, runId, credit, clock }: HistoryServiceParts): HistoryService {
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
  const take = async (sealed: Uint8Array): Promise<void> => {
    const { signer: node, version, manifestId, fault, difference } = await openRederivation(sealed, runId)
    await recorder.record((state) => {
      // Unknown keys could fill the log.
      if (!state.registered.has(node))
        throw refusal('not_registered', 'only a key that has asked for work can report a re-derivation')
      if (version > (state.current?.version ?? 0)) throw refusal('out_of_bounds', `version ${version} is not published`)
      const earlier = state.rederived.filter((one) => one.version === version)
      if (earlier.some((one) => one.node === node)) return null
      const credited = earlier.filter((one) => one.credit > 0).length
      // Keys that only report could be made in any number.
      const earns = credited < CREDITED_REPORTS && state.reliable.has(node) ? credit : 0
      const result = { version, manifestId, node, fault, difference, credit: earns }
      return { type: 'rederived', atMs: clock.now(), ...result }
    })
  }
  return {
    async answer({ proofOf, headAt, rederivation }, asker) {
      if (proofOf === undefined && headAt === undefined && rederivation === undefined) return {}
      if (!limits.ofKey.allow(asker) || !limits.all.allow('all'))
        throw refusal('rate_limited', 'too many questions about the history of the run')
      if (rederivation !== undefined) {
        await take(rederivation)
        return {}
      }
      if (headAt !== undefined) return { head: await earlierHead(headAt) }
      const proven = recorder.state.verdictTrees.prove(proofOf!)
      if (!proven) throw refusal('not_found', 'there is no verdict on this lease among those of the last steps')
      const { step, index, leaf, count, root, path } = proven
      const head = await seal({ ...recorder.head(), step, verdicts: count, verdictsRoot: root }, false)
      return { head, proof: { leaf, index, path } }
    },
  }
}
