import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { openMembership } from '../../node/network/membership.js'
import type { NodeProgress } from '../../node/report/progress.js'
import { startVolunteer } from '../../node/volunteer/volunteer.js'
import { createBlobStore } from '../../swarm/index.js'
import { library } from '../support/library-environment.js'
import { BASE_SHA256 } from './coordinator-program.js'
import { openSimStore } from './databases.js'
import { createScriptEngine } from './script-engine.js'
import { tokenizer } from './script-policy.js'
import { addressOf, createSimHost } from './sim-host.js'
import type { SimProcess } from './sim-process.js'
import type { SimulatedRun } from './simulated-run.js'

export interface VolunteerSettings {
  readonly key: PrivateKey
  readonly peerId: string
  readonly runId: string
  /** The seed it really samples with; see `ScriptEngineOptions`. */
  readonly seedUsed?: (seed: number) => number
  /** Other volunteers it stays connected to, and can fetch adapters from. */
  readonly neighbours: readonly string[]
  readonly onProgress: (progress: NodeProgress) => void
}

/**
 * A volunteer on a simulated machine: everything that `node/volunteer/start-node.ts` starts, with a script for an engine.
 * @returns  never, unless the work ends: then with what ended it
 */
export async function runVolunteer(
  simulated: SimulatedRun,
  process: SimProcess,
  settings: VolunteerSettings,
): Promise<void> {
  const { key, peerId, runId, seedUsed, neighbours, onProgress } = settings
  const { clock, machine } = process
  await mkdir(join(machine.folder, 'blobs'), { recursive: true })
  const store = await openSimStore(simulated, process, join(machine.folder, 'store'), runId)
  const { network, directory } = simulated
  const host = createSimHost({
    ...{ network, directory, process, peerId, runId },
    logger: simulated.logger(process),
    onRefusal: ({ code }) => simulated.blow(`refused as ${code}`),
  })
  const blobs = await createBlobStore(join(machine.folder, 'blobs'))
  const coordinator = { addresses: [addressOf(runId)], peerId: runId }
  const membership = await openMembership({ coordinator, host, store, blobs })
  const volunteer = await startVolunteer({
    ...{ host, membership, key, store, blobs, tokenizer, onProgress },
    engine: createScriptEngine({
      clock,
      turnMs: (seed) => 100 + (seed % 400),
      ...(seedUsed ? { seedUsed } : {}),
    }),
    baseSha256: BASE_SHA256,
    refit: async () => undefined,
    catalogue: new Map([[library.name, library]]),
  })
  for (const neighbour of neighbours) void visit(neighbour)
  await volunteer.work

  /** Gossip keeps volunteers connected with each other; here a simple rule does. */
  async function visit(neighbour: string): Promise<void> {
    for (;;) {
      if (!host.isConnected(neighbour))
        await host.dial(addressOf(neighbour), clock.timeout(10_000)).catch(() => undefined)
      await clock.sleep(5000)
    }
  }
}
