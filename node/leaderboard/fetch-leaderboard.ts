import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageVersion } from '../../common/cli/index.js'
import { type Leaderboard, openLeaderboard } from '../../proto/index.js'
import { createHost, dialAny, type JoinAddress, openIdentity, requestLeaderboard } from '../../swarm/index.js'

/**
 * Fetches the newest leaderboard of a run from the sources, and checks its signature. The request has a temporary key, which is not
 * registered and does not disturb a running node.
 * @param asked  key whose place is also wanted: only the coordinator knows the places of all keys
 * @throws TransportError, SwarmRefusal if no source has a leaderboard
 */
export async function fetchLeaderboard(
  sources: readonly JoinAddress[],
  runId: string,
  asked: string | null,
  signal: AbortSignal,
): Promise<Leaderboard> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-leaderboard-'))
  try {
    const { privateKey } = await openIdentity(folder)
    const host = await createHost({ privateKey, runId, program: packageVersion() })
    try {
      const ask = async ({ peerId, addresses }: JoinAddress): Promise<Leaderboard> => {
        await dialAny(host, addresses, signal)
        return openLeaderboard(await requestLeaderboard(host, peerId, { peerId: asked }, signal), runId)
      }
      const outcomes = await Promise.allSettled(sources.map(ask))
      signal.throwIfAborted()
      const leaderboards = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      const [newest] = leaderboards.sort((a, b) => b.issuedAtMs - a.issuedAtMs)
      if (newest) return newest
      throw (outcomes[0] as PromiseRejectedResult).reason
    } finally {
      await host.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
