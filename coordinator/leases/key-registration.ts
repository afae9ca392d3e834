import { refusal } from '../../proto/index.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'
import { originOf } from '../ledger/run-state.js'

/** New keys per minute. Each is a permanent record and makes the coordinator open another round. */
const PER_MINUTE = 600
/** New keys of one block of addresses. A class may join at once, but a stream of keys cannot exclude all others. */
const OF_BLOCK = { perMinute: 12, atOnce: 60 }

export interface KeyRegistrationParts {
  readonly recorder: Recorder
  /** Returns the block of network addresses that a node is connected from; null: unknown. */
  readonly addressBlockOf: (node: string) => string | null
  readonly clock: Clock
}

/** Returns a function that records a key at its first request. @throws SwarmRefusal `rate_limited` */
export function createKeyRegistration({ recorder, addressBlockOf, clock }: KeyRegistrationParts) {
  const ofAll = createRateLimit(clock, PER_MINUTE)
  const ofOrigin = createRateLimit(clock, OF_BLOCK.perMinute, OF_BLOCK.atOnce)
  return async (node: string, agent: string): Promise<void> => {
    if (recorder.state.registered.has(node) || !recorder.state.round) return
    const isAllowed = ofOrigin.allow(originOf(node, addressBlockOf(node))) && ofAll.allow('all')
    if (!isAllowed) throw refusal('rate_limited', 'too many new keys at the moment')
    await recorder.record((state) => {
      if (state.registered.has(node)) return null
      return { type: 'registered', atMs: clock.now(), node, round: state.round!.round, agent }
    })
  }
}
