import type { Stream } from '@libp2p/interface'
import { LIMITS, type SnapshotWant, snapshotRequest } from '../../../proto/index.js'
import { openSnapshotSource } from '../../../swarm/snapshot-source.js'
import { soon } from '../../support/swarm-nodes.js'
import type { Arena } from '../arena.js'
import type { Attack } from '../attack.js'
import { happens } from '../network-attack.js'
import { openParticipant, type Participant } from '../participant.js'
import { framed, openRaw } from '../raw-requests.js'

/** Together as many streams as the coordinator serves, and more. */
const KEYS = 34
const REOPEN_EVERY_MS = 2000
/** Versions that are made without the attack, and as many during it: their pace is stated, and decides nothing on a busy machine. */
const VERSIONS = 2
const NEWEST: SnapshotWant = { kind: 'newest-manifest' }

/**
 * Keeps all streams of the protocol open: every other key never sends a request, and the others send one on each stream again and again. A
 * stream that was dropped is opened again.
 */
async function holdStreams(nodes: readonly Participant[], signal: AbortSignal): Promise<void> {
  const held = nodes.map((node) => ({ node, streams: [] as Stream[] }))
  while (!signal.aborted) {
    for (const [i, { node, streams }] of held.entries()) {
      const open = streams.filter(({ status }) => status === 'open')
      while (open.length < LIMITS.inboundStreamsPerPeer.value && !signal.aborted) {
        const stream = await openRaw(node, 'snapshot').catch(() => null)
        if (!stream) break
        open.push(stream)
      }
      if (i % 2 === 0) for (const stream of open) send(stream)
      streams.splice(0, streams.length, ...open)
    }
    await new Promise((resolve) => setTimeout(resolve, REOPEN_EVERY_MS))
  }
}

function send(stream: Stream): void {
  try {
    stream.send(framed(snapshotRequest.encode({ id: 1, want: NEWEST })))
  } catch {
    // The coordinator has just dropped it.
  }
}

/** Whether a new key gets the newest manifest. */
async function isServed(arena: Arena): Promise<boolean> {
  const node = await openParticipant(arena.run, await arena.newKey())
  try {
    const source = await openSnapshotSource(node.host, arena.run.runId, soon())
    const { status } = await source.ask(NEWEST)
    source.close()
    return status === 'ok'
  } catch {
    return false
  } finally {
    await node.close()
  }
}

interface Pace {
  readonly groups: number
  readonly seconds: number
}

/** Delivers honest groups until a number of versions has been published. */
async function versionsPublished(arena: Arena, count: number, signal: AbortSignal): Promise<Pace> {
  const version = (): number => arena.state().current!.version
  const [first, startedMs] = [version(), performance.now()]
  let groups = 0
  while (version() < first + count) {
    await arena.honest.deliver(await arena.honest.group(signal))
    groups += 1
  }
  return { groups, seconds: (performance.now() - startedMs) / 1000 }
}

const paceLine = ({ groups, seconds }: Pace): string => `${groups} groups and ${seconds.toFixed(0)} s`

export const artifactStreams: Attack = {
  name: 'artifact-streams',
  about: 'occupies all streams for file transfers with 34 keys of one address',
  provable: true,
  places: ['transport'],
  async attempt(arena, _, signal) {
    const nodes: Participant[] = []
    const over = new AbortController()
    const from = arena.run.coordinator.lines.length
    let holding: Promise<void> = Promise.resolve()
    try {
      // The first one may need fewer groups, because some are waiting.
      await versionsPublished(arena, 1, signal)
      const usual = await versionsPublished(arena, VERSIONS, signal)
      while (nodes.length < KEYS) nodes.push(await openParticipant(arena.run, await arena.newKey()))
      const cpuMs = arena.cpuMs()
      holding = holdStreams(nodes, AbortSignal.any([signal, over.signal]))
      const isAlarmed = (): boolean =>
        arena.run.coordinator.lines
          .slice(from)
          .some(({ type, alarm }) => type === 'alarm' && (alarm as { code: string }).code === 'strained')
      const faults: string[] = []
      if (!(await happens(isAlarmed, signal))) faults.push('no alarm')
      for (let asked = 0; asked < 5; asked++) if (!(await isServed(arena))) faults.push('a new key was not served')
      const beset = await versionsPublished(arena, VERSIONS, signal)
      const caught = faults.length === 0
      return {
        caught,
        place: caught ? 'transport' : null,
        code: null,
        costMs: arena.cpuMs() - cpuMs,
        detail: [
          ...faults,
          `${VERSIONS} versions took ${paceLine(usual)} before, and ${paceLine(beset)} meanwhile`,
        ].join('; '),
      }
    } finally {
      over.abort()
      await holding
      for (const node of nodes) await node.close()
    }
  },
}
