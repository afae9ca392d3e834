import { readFile } from 'node:fs/promises'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { PRIVATE_FILE } from '../../common/control/index.js'
import { LIMITS } from '../../proto/index.js'
import type { KnownPeer } from '../../swarm/index.js'
import { unlessMissing } from '../jobs/job-directory.js'

const peersSchema: z.ZodType<KnownPeer[]> = z
  .array(z.strictObject({ peerId: z.string(), addresses: z.array(z.string()).min(1), reachedAtMs: z.number() }))
  .max(LIMITS.peersKept.value)

/**
 * Opens the file of nodes that the coordinator has reached. After an address change, the coordinator finds some of them again, and they
 * pass on its new address. A missing or damaged file counts as empty.
 */
export async function openPeerFile(file: string): Promise<{
  readonly known: readonly KnownPeer[]
  keep(peers: readonly KnownPeer[]): Promise<void>
}> {
  return {
    known: parse((await unlessMissing(readFile(file, 'utf8'))) ?? '[]'),
    keep: (peers) => writeFileAtomic(file, JSON.stringify(peers), { mode: PRIVATE_FILE }),
  }
}

function parse(text: string): readonly KnownPeer[] {
  try {
    return peersSchema.parse(JSON.parse(text))
  } catch {
    return []
  }
}
