import { readFile } from 'node:fs/promises'
import type { PrivateKey } from '@libp2p/interface'
import writeFileAtomic from 'write-file-atomic'
import { PRIVATE_FILE } from '../../common/control/index.js'
import { LIMITS, openAddressNotice, SwarmRefusal, sealAddressNotice } from '../../proto/index.js'
import { type AddressNotices, type SwarmHost, widest, withoutPeer } from '../../swarm/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import type { Announcement } from '../ledger/orders.js'

/** A node that comes back after a month finds its run by this; one that was moved twice since has to be told anew. */
const LIFETIME_MS = 60 * 24 * 3_600_000
const LOOK_EVERY_MS = 60_000
/** After a start nodes come back one by one. */
const EARLY_LOOKS = 12
const LOOK_EARLY_MS = 5000

export interface OwnAddressParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly notices: Pick<AddressNotices, 'take' | 'publish'>
  /** Where the notice that was published last lies, sealed. */
  readonly file: string
  /** What the operator has said last. */
  readonly announcement: () => Announcement | null
  /** Calls back when that has changed. @returns  stops it */
  readonly onAnnouncement: (hear: () => void) => () => void
}

/**
 * Gossips where this coordinator is to be found and what its operator has announced, signed, and numbers a new notice when that has changed since the last one. Ends
 * when the signal fires; what fails is tried again.
 */
export async function tellOwnAddresses(parts: OwnAddressParts, signal: AbortSignal): Promise<void> {
  const { host, notices } = parts
  let news = new AbortController()
  const stop = parts.onAnnouncement(() => news.abort())
  signal.addEventListener('abort', stop, { once: true })
  for (let looks = 1; !signal.aborted; looks++) {
    news = new AbortController()
    try {
      const sealed = await currentNotice(parts)
      if (sealed !== null) {
        await notices.take(sealed)
        await notices.publish()
      }
    } catch (error) {
      if (!signal.aborted) host.logger.error({ error }, 'nodes could not be told of the addresses')
    }
    const ending = AbortSignal.any([signal, news.signal])
    await host.clock.sleep(looks < EARLY_LOOKS ? LOOK_EARLY_MS : LOOK_EVERY_MS, ending).catch(() => undefined)
  }
}

/** @returns  null when this host listens nowhere that could be told */
export async function currentNotice({
  host,
  key,
  file,
  announcement,
}: Omit<OwnAddressParts, 'notices' | 'onAnnouncement'>): Promise<Uint8Array | null> {
  const nowMs = host.clock.now()
  const said = announcement()
  const message = said?.message ?? ''
  const own = told(host.addresses())
  const addresses = [...new Set([...(said?.addresses ?? []), ...own])].slice(0, LIMITS.addressesPerPeer.value)
  const last = await lastNotice(file, host.runId)
  const isCurrent =
    last !== null &&
    last.expiresAtMs - nowMs > LIFETIME_MS / 2 &&
    last.message === message &&
    same(last.addresses, addresses)
  if (isCurrent) return last.sealed
  if (addresses.length === 0) return null
  // Above all that were ever published, also when this folder comes from a backup.
  const number = Math.max((last?.number ?? 0) + 1, Math.floor(nowMs / 1000))
  const notice = { number, addresses, message, issuedAtMs: nowMs, expiresAtMs: nowMs + LIFETIME_MS }
  const sealed = await sealAddressNotice(key, host.runId, notice)
  // On disk first, or a later one could get the same number.
  await writeFileAtomic(file, Buffer.from(sealed), { mode: PRIVATE_FILE })
  return sealed
}

/** Returns the addresses that nodes are to dial: those of the widest reach, without the peer id. */
function told(own: readonly string[]): string[] {
  const addresses = widest(own).map(withoutPeer)
  return [...new Set(addresses)].sort().slice(0, LIMITS.addressesPerPeer.value)
}

const same = (a: readonly string[], b: readonly string[]): boolean => a.join(' ') === b.join(' ')

/** What a disk has lost or changed is numbered anew. */
async function lastNotice(file: string, runId: string) {
  const sealed = await unlessMissing(readFile(file))
  if (!sealed) return null
  try {
    return { ...(await openAddressNotice(sealed, runId, 0)), sealed: new Uint8Array(sealed) }
  } catch (why) {
    if (why instanceof SwarmRefusal) return null
    throw why
  }
}
