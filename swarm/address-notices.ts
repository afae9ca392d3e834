import { type AddressNotice, LIMITS, openAddressNotice, refusal, SwarmRefusal, topicsOf } from '../proto/index.js'
import type { Channel } from './gossip.js'
import type { SwarmHost } from './host.js'

/** A notice with the bytes that the run's key has signed, which are passed on as they are. */
export interface SealedNotice {
  readonly notice: AddressNotice
  readonly sealed: Uint8Array
}

/** Where the run's coordinator is to be found, as its key says, whoever passed it on. */
export interface AddressNotices {
  /** The newest that has not expired. */
  newest(): SealedNotice | null
  /** Takes a notice that somebody passed on. @returns  whether it is news. @throws SwarmRefusal */
  take(sealed: Uint8Array): Promise<boolean>
  /** Gossips the newest one; nothing when there is none. */
  publish(): Promise<void>
  close(): void
}

export interface NoticeParts {
  readonly host: SwarmHost
  /** Of an earlier life; null: none was heard of. */
  readonly known: Uint8Array | null
  /** Hears each newer notice, once. */
  readonly onNews: (news: SealedNotice) => void
}

/** Keeps the newest notice of the run, and passes it on by gossip. */
export async function openAddressNotices({ host, known, onNews }: NoticeParts): Promise<AddressNotices> {
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
  const isNews = ({ notice }: SealedNotice): boolean => notice.number > (newest?.notice.number ?? 0)
  const accept = (next: SealedNotice): boolean => {
    if (!isNews(next)) return false
    newest = next
    onNews(next)
    return true
  }
  const leave = host.gossip.join(channel, {
    check: (next) => {
      // The one in force is repeated for those who came late.
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

/** What was kept may have expired, or come from a disk that changed it. */
function unlessRefused(why: unknown): null {
  if (why instanceof SwarmRefusal) return null
  throw why
}
