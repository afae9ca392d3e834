import { readFile } from 'node:fs/promises'
import type { PrivateKey } from '@libp2p/interface'
import writeFileAtomic from 'write-file-atomic'
import { PRIVATE_FILE } from '../../common/control/index.js'
import { LIMITS, openAddressNotice, SwarmRefusal, sealAddressNotice } from '../../proto/index.js'
import { type AddressNotices, type SwarmHost, widest, withoutPeer } from '../../swarm/index.js'
import { unlessMissing } from '../jobs/job-directory.js'
import type { Announcement } from '../ledger/orders.js'

/** Lifetime of a notice. A node that returns within it finds its run, if the run has moved at most once since. */
const LIFETIME_MS = 60 * 24 * 3_600_000
const LOOK_EVERY_MS = 60_000
/** Checks soon after a start, while nodes reconnect one by one. */
const EARLY_LOOKS = 12
const LOOK_EARLY_MS = 5000

export interface OwnAddressParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly notices: Pick<AddressNotices, 'take' | 'publish'>
  /** File of the notice that was published last. */
  readonly file: string
  /** Returns the operator's current announcement. */
  readonly announcement: () => Announcement | null
  /** Calls back when the announcement changes. @returns  a function that unsubscribes */
  readonly onAnnouncement: (onChange: () => void) => () => void
}

/**
 * Gossips signed notices with the coordinator's addresses and the operator's announcement. Numbers a new notice when they
 * change. Ends when the signal fires. Failures are retried.
 */
export async function announceAddresses(parts: OwnAddressParts, signal: AbortSignal): Promise<void> {
  const { host, notices } = parts
  let changed = new AbortController()
  const stop = parts.onAnnouncement(() => changed.abort())
  signal.addEventListener('abort', stop, { once: true })
  for (let looks = 1; !signal.aborted; looks++) {
    changed = new AbortController()
    try {
      const sealed = await currentNotice(parts)
      if (sealed !== null) {
        await notices.take(sealed)
        await notices.publish()
      }
    } catch (error) {
      if (!signal.aborted) host.logger.error({ error }, 'the addresses could not be announced')
    }
    const ending = AbortSignal.any([signal, changed.signal])
    await host.clock.sleep(looks < EARLY_LOOKS ? LOOK_EARLY_MS : LOOK_EVERY_MS, ending).catch(() => undefined)
  }
}

/** Returns the current notice, signed; null: the host has no address that others could use. */
export async function currentNotice({
  host,
  key,
  file,
  announcement,
}: Omit<OwnAddressParts, 'notices' | 'onAnnouncement'>): Promise<Uint8Array | null> {
  const nowMs = host.clock.now()
  const current = announcement()
  const message = current?.message ?? ''
  const own = announced(host.addresses())
  const addresses = [...new Set([...(current?.addresses ?? []), ...own])].slice(0, LIMITS.addressesPerPeer.value)
  const last = await lastNotice(file, host.runId)
  const isCurrent =
    last !== null &&
    last.expiresAtMs - nowMs > LIFETIME_MS / 2 &&
    last.message === message &&
    same(last.addresses, addresses)
  if (isCurrent) return last.sealed
  if (addresses.length === 0) return null
  // Greater than every published number, also when the folder was restored from a backup.
  const number = Math.max((last?.number ?? 0) + 1, Math.floor(nowMs / 1000))
  const notice = { number, addresses, message, issuedAtMs: nowMs, expiresAtMs: nowMs + LIFETIME_MS }
  const sealed = await sealAddressNotice(key, host.runId, notice)
  // On disk first, so that a later notice cannot get the same number.
  await writeFileAtomic(file, Buffer.from(sealed), { mode: PRIVATE_FILE })
  return sealed
}

/** Returns the addresses to announce: those of the widest reach, without the peer id. Others cannot use a loopback address. */
function announced(own: readonly string[]): string[] {
  const addresses = widest(own).map(withoutPeer)
  return [...new Set(addresses)].sort().slice(0, LIMITS.addressesPerPeer.value)
}

const same = (a: readonly string[], b: readonly string[]): boolean => a.join(' ') === b.join(' ')

/** Reads the last notice; null: missing or damaged, so numbering begins again. */
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
