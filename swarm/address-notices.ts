import { type AddressNotice, LIMITS, openAddressNotice, refusal, SwarmRefusal, topicsOf } from '../proto/index.js'
import type { Channel } from './gossip.js'
import type { SwarmHost } from './host.js'

/** A notice and the bytes that the run's key has signed, which are passed on unchanged. */
export interface SealedNotice {
  readonly notice: AddressNotice
  readonly sealed: Uint8Array
}

/** The current addresses of the run's coordinator, signed by its key. Any peer may pass them on. */
export interface AddressNotices {
  /** Returns the newest notice, unless it has expired. */
  newest(): SealedNotice | null
  /** Accepts a notice from a peer. @returns  whether it is newer than the known one. @throws SwarmRefusal */
  take(sealed: Uint8Array): Promise<boolean>
  /** Gossips the newest notice, if one is known. */
  publish(): Promise<void>
  close(): void
}

export interface NoticeParts {
  readonly host: SwarmHost
  /** The notice that an earlier process kept; null: none. */
  readonly known: Uint8Array | null
  /** Called once for each newer notice. */
  readonly onNewer: (notice: SealedNotice) => void
}

/** Keeps the newest notice of the run, and passes on newer ones by gossip. */
export async function openAddressNotices({ host, known, onNewer }: NoticeParts): Promise<AddressNotices> {
  const { clock, runId } = host
  const open = async (sealed: Uint8Array): Promise<SealedNotice> => ({
    notice: await openAddressNotice(sealed, runId, clock.now()),
    sealed,
  })
  const channel: Channel<SealedNotice> = {
    topic: topicsOf(runId).addresses,
    maxBytes: LIMITS.addressNoticeBytes.value,
    parse: open,
  }
  let newest = known === null ? null : await open(known).catch(unlessRefused)
  const isNewer = ({ notice }: SealedNotice): boolean => notice.number > (newest?.notice.number ?? 0)
  const accept = (next: SealedNotice): boolean => {
    if (!isNewer(next)) return false
    newest = next
    onNewer(next)
    return true
  }
  const leave = host.gossip.join(channel, {
    check: (next) => {
      // The coordinator repeats the notice in force for nodes that joined later.
      if (next.notice.number < (newest?.notice.number ?? 0))
        throw refusal('expired', `a newer notice than ${next.notice.number} is known`)
    },
    deliver: (next) => void accept(next),
  })
  return {
    newest: () => (newest && newest.notice.expiresAtMs > clock.now() ? newest : null),
    take: async (sealed) => accept(await open(sealed)),
    async publish() {
      if (newest) await host.gossip.publish(channel, newest.sealed)
    },
    close: leave,
  }
}

/** A kept notice may have expired, or been damaged on disk. */
function unlessRefused(why: unknown): null {
  if (why instanceof SwarmRefusal) return null
  throw why
}
