import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { createPolicyKeeper, type PolicyKeeper } from '../../node/policy/policy-keeper.js'
import {
  type PolicyManifest,
  PROTOCOLS,
  policyManifest,
  type SealedManifest,
  type SnapshotWant,
  sealEnvelope,
  snapshotRequest,
  snapshotResponse,
} from '../../proto/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import {
  type BlobStore,
  createBlobStore,
  createHost,
  createSnapshotExchange,
  type RefusalEvent,
  type SwarmHost,
  silentLogger,
  systemClock,
} from '../../swarm/index.js'
import { patientClock, soon } from '../support/swarm-nodes.js'
import type { Arena } from './arena.js'
import type { Attack, Attempt } from './attack.js'
import { dialPatiently } from './participant.js'

/** A volunteer of which an attacker gets hold: its network side, its policy keeper and the real engine. */
export interface Victim {
  readonly host: SwarmHost
  readonly keeper: PolicyKeeper
  readonly store: BlobStore
  readonly refusals: readonly RefusalEvent[]
  /** Whether the attacker is the only peer that it asks. */
  readonly offering: { alone: boolean }
}

/** What an attacker's peer answers on the snapshot stream; null: nothing at all, for ever. */
export type Answer = (want: SnapshotWant) => Promise<Uint8Array | 'not found' | null>

/** A peer in an attacker's hands that serves manifests and chunks in its own way. */
export interface HostilePeer {
  readonly host: SwarmHost
  readonly key: PrivateKey
  /** Requests it has got. */
  readonly asked: readonly SnapshotWant[]
}

export interface Scene {
  readonly arena: Arena
  /** The run that the victim takes part in: the arena's, or one of the attacker's own. */
  readonly runId: string
  readonly attacker: HostilePeer
  readonly victim: Victim
  answer: Answer
  /** What the arena's coordinator has published, changed and signed by the attacker as if it were his own run. */
  forge(change: (manifest: PolicyManifest) => PolicyManifest): Promise<Uint8Array>
  /** The bytes of the real adapter. */
  adapterChunk(index: number): Promise<Uint8Array>
}

export interface VolunteerAttack extends Omit<Attack, 'attempt' | 'provable' | 'places'> {
  /** Whose run the victim takes part in. */
  readonly run: 'arena' | 'own'
  /** @returns what went wrong for the victim; nothing when it was not harmed */
  carryOut(scene: Scene, i: number, signal: AbortSignal): Promise<readonly string[]>
}

/** An attack on volunteers. It is caught when the volunteer is as before, or has got what it wanted from somebody else. */
export function volunteerAttack({ run, carryOut, ...attack }: VolunteerAttack): Attack {
  return {
    ...attack,
    provable: true,
    places: ['volunteer'],
    async attempt(arena, i, signal): Promise<Attempt> {
      const cleanUps: (() => Promise<unknown>)[] = []
      try {
        const scene = await openScene(arena, run, `${attack.name}-${i}`, cleanUps)
        const { user, system } = process.cpuUsage()
        const faults = await carryOut(scene, i, signal)
        const after = process.cpuUsage()
        const costMs = (after.user - user + after.system - system) / 1000
        const caught = faults.length === 0
        const codes = [...new Set(scene.victim.refusals.map(({ code }) => code))].join(' ')
        return { caught, place: caught ? 'volunteer' : null, code: codes || null, costMs, detail: faults.join('; ') }
      } finally {
        for (const cleanUp of cleanUps.reverse()) await cleanUp()
      }
    },
  }
}

async function openScene(
  arena: Arena,
  run: 'arena' | 'own',
  name: string,
  cleanUps: (() => Promise<unknown>)[],
): Promise<Scene> {
  const key = await arena.newKey()
  const attackerHost = await createHost({ privateKey: key, runId: arena.run.runId, listen: ['/ip4/127.0.0.1/tcp/0'] })
  cleanUps.push(() => attackerHost.close())
  const runId = run === 'arena' ? arena.run.runId : attackerHost.peerId
  const asked: SnapshotWant[] = []
  const scene: Scene = {
    arena,
    runId,
    attacker: { host: attackerHost, key, asked },
    victim: await openVictim(arena, runId, attackerHost.addresses()[0]!, name, cleanUps),
    answer: async () => 'not found',
    async forge(change) {
      const { sealed } = await arena.policies.newest(soon())
      const payload = policyManifest.encode(change(sealed.manifest))
      return sealEnvelope(key, 'manifestBytes', { kind: 'policy-manifest', runId, payload })
    },
    async adapterChunk(index) {
      const { adapter, sealed } = await arena.policies.newest(soon())
      const blob = sealed.manifest.blobs.find(({ role }) => role === 'adapter')!
      const store = await createBlobStore(join(adapter.path, '..'))
      return (await store.readChunk(blob.sha256, blob.sizeBytes, index))!
    },
  }
  await attackerHost.handle(PROTOCOLS.snapshot, (stream) => {
    const bytes = createByteStream(stream, systemClock, 60_000)
    const serve = async (): Promise<void> => {
      for (;;) {
        const frame = await bytes.readFrameOrEnd(snapshotRequest.maxBytes, soon())
        if (!frame) return
        const { id, want } = snapshotRequest.parse(frame)
        asked.push(want)
        const data = await scene.answer(want)
        if (data === null) continue
        const response =
          data === 'not found'
            ? snapshotResponse.encode({ id, status: 'not_found', data: new Uint8Array() })
            : rawResponse(id, data)
        await bytes.writeFrame(response, soon())
      }
    }
    // The victim may hang up at any time.
    serve().catch(() => undefined)
  })
  return scene
}

/** A response of whatever size: the encoder keeps to the limits, so field 3, the last one, is written by hand. */
function rawResponse(id: number, data: Uint8Array): Uint8Array {
  const head = snapshotResponse.encode({ id, status: 'ok', data: new Uint8Array([0]) })
  const withoutData = head.subarray(0, head.length - 3)
  const length: number[] = []
  for (let rest = data.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest >= 128 ? (rest % 128) | 0x80 : rest)
    if (rest < 128) break
  }
  return Buffer.concat([withoutData, Uint8Array.from([0x1a, ...length]), data])
}

async function openVictim(
  arena: Arena,
  runId: string,
  attacker: string,
  name: string,
  cleanUps: (() => Promise<unknown>)[],
): Promise<Victim> {
  const refusals: RefusalEvent[] = []
  const privateKey = await arena.newKey()
  const host = await createHost({
    privateKey,
    runId,
    clock: patientClock,
    onRefusal: (event) => refusals.push(event),
  })
  cleanUps.push(() => host.close())
  const attackerId = await host.dial(attacker, soon())
  if (runId === arena.run.runId) await dialPatiently(host, arena.run.address)
  const store = await createBlobStore(join(arena.run.machine.folder, 'victims', name))
  const snapshots = await createSnapshotExchange(host, { store })
  cleanUps.push(() => snapshots.close())
  const engine = await arena.engine(null, soon())
  const offering = { alone: false }
  const keeper = createPolicyKeeper({
    logger: silentLogger,
    engine,
    refit: async () => undefined,
    tokenizer: arena.runtime.tokenizer,
    baseSha256: arena.run.baseSha256,
    catalogue: arena.runtime.catalogue,
    snapshots,
    blobs: store,
    origin: runId,
    peers: () => (offering.alone || runId !== arena.run.runId ? [attackerId] : [attackerId, runId]),
    clock: systemClock,
  })
  return { host, keeper, store, refusals, offering }
}

/** The answer of a peer that says it has every chunk of the adapter. */
export function holdsAll({ manifest }: SealedManifest): Uint8Array {
  const { chunkSha256s } = manifest.blobs.find(({ role }) => role === 'adapter')!
  return new Uint8Array(Math.ceil(chunkSha256s.length / 8)).fill(0xff)
}

/** Tries to load what there is. @returns the error's code, with that of its cause, or null when a policy was loaded */
export async function updateCode({ victim }: Scene, signal: AbortSignal): Promise<string | null> {
  try {
    await victim.keeper.update(signal)
    return null
  } catch (error) {
    signal.throwIfAborted()
    return String((error as { code?: unknown }).code ?? (error as Error).name)
  }
}

/** What is in the victim's folder of files, beyond what one publication leaves there. */
export const strangeFiles = async ({ victim }: Scene): Promise<string[]> =>
  (await readdir(victim.store.directory)).filter((name) => !/^(\.part-|\.have-)?[0-9a-f]{64}$/.test(name))

/** Whether the victim runs a policy that the arena's coordinator has published. */
export function runsARealPolicy({ arena, victim }: Scene): boolean {
  const policyId = victim.keeper.loaded?.manifest.policyId
  return arena.state().publications.some((publication) => publication.policyId === policyId)
}
