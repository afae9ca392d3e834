import { LIMITS } from '../../proto/index.js'
import type { SeededRandom } from '../../servers/kernel/index.js'
import { KEEP_UP_MS, LEAST_OF_OTHERS } from '../../swarm/chunk-choice.js'
import { createGivenChunks, type GivenChunks } from '../../swarm/given-chunks.js'
import { bitsOf as chunkBits } from '../../swarm/partial-blob.js'
import type { VirtualTime } from '../chaos/virtual-time.js'

/** Somebody who takes part in passing adapters on. */
export interface FlowPeer {
  readonly id: string
  readonly upBytesPerS: number
  readonly downBytesPerS: number
  /** Whom it is connected with, in the order in which it asks them: the node's own list. */
  neighbours(): readonly string[]
}

/** Why the coordinator is asked: nobody else is there, it promised the chunk, the neighbours lack it, or they are too slow. */
export const REASONS = ['alone', 'promised', 'lacking', 'slow'] as const
export type Reason = (typeof REASONS)[number]

export interface FlowCounts {
  readonly fromCoordinator: Record<Reason, number>
  fromPeers: number
}

/**
 * How the chunks of adapters spread, as a flow: in each step every line carries what it can. Who asks whom for what follows
 * `swarm/snapshot-fetch.ts` and `chunk-choice.ts`: up to eight sources, chunks that a source holds in no order that others share, and from
 * the coordinator one at a time: what it promises (`given-chunks.ts` itself), what none of the neighbours has or awaits while they bring
 * nothing and it has not said that enough others have had it, and anything when they are silent or slow. Everybody's processor is quick: the coordinator's pace gives nobody more time.
 */
export interface AdapterFlow {
  readonly counts: FlowCounts
  join(peer: FlowPeer): void
  leave(id: string): void
  /** Has been there from the start. */
  hold(id: string, version: number): void
  /** Resolves when all of it is there. @throws the signal's reason */
  fetch(id: string, version: number, signal: AbortSignal, originPatienceMs?: number): Promise<void>
  close(): void
}

const STEP_MS = 500
/** See `LOOK_MS` of `swarm/source-rotation.ts`, `ORIGIN_PATIENCE_MS` of `swarm/snapshot-fetch.ts`, `SHARE_REST_MS` of `swarm/chunk-knowledge.ts`, `SPENT_AFTER_MS` of `swarm/upload-budget.ts`. */
const LOOK_MS = 1000
const ORIGIN_PATIENCE_MS = 20_000
const SPENT_AFTER_MS = 2000
const SHARE_REST_MS = 2000
/** Adapters and differences that a node keeps, as `node/policy/policy-keeper.ts` has it. */
const KEPT = 6
const WORD = 32

interface Member {
  readonly peer: FlowPeer
  /** Bits of chunks by file. */
  readonly held: Map<number, Uint32Array>
  up: number
  down: number
  fetching: Fetching | null
}

interface Fetching {
  /** See `wholeOf`. */
  readonly version: number
  readonly originPatienceMs: number
  readonly done: PromiseWithResolvers<void>
  sources: readonly Member[]
  lookAtMs: number
  /** Asked of the coordinator. */
  expected: number | null
  reason: Reason
  readonly startMs: number
  lastChunkMs: number
  lastOfOthersMs: number
  ofOthers: number
  shareRestsUntilMs: number
  originSteps: number
  missing: number
}

export interface FlowParts {
  readonly time: VirtualTime
  readonly random: SeededRandom
  readonly blobBytes: number
  /** Of the difference to the version before, which nodes fetch that have it. */
  readonly differenceBytes: number
  readonly coordinatorBytesPerS: number
}

/** Files of a version: its adapter, and the difference to the one before. */
const wholeOf = (version: number): number => 2 * version
const differenceOf = (version: number): number => 2 * version + 1
const isDifference = (file: number): boolean => file % 2 === 1

export function createAdapterFlow({
  time,
  random,
  blobBytes,
  differenceBytes,
  coordinatorBytesPerS,
}: FlowParts): AdapterFlow {
  const chunkBytes = LIMITS.chunkBytes.value
  const chunks = Math.ceil(blobBytes / chunkBytes)
  const words = Math.ceil(chunks / WORD)
  const members = new Map<string, Member>()
  const fetching = new Set<Member>()
  const counts: FlowCounts = { fromCoordinator: { alone: 0, promised: 0, lacking: 0, slow: 0 }, fromPeers: 0 }
  const given = new Map<number, GivenChunks>()
  const line: Member[] = []
  let originUp = 0
  let isOpen = true
  let isRunning = false

  const givenOf = (version: number): GivenChunks => {
    const known = given.get(version) ?? createGivenChunks()
    given.set(version, known)
    return known
  }
  const emptyBits = (): Uint32Array => new Uint32Array(words)
  const chunksOf = (file: number): number => (isDifference(file) ? Math.ceil(differenceBytes / chunkBytes) : chunks)
  const allBits = (file: number): Uint32Array => {
    const bits = emptyBits()
    for (let index = 0; index < chunksOf(file); index++) bits[index >> 5]! |= 1 << (index & 31)
    return bits
  }
  const every = [allBits(wholeOf(0)), allBits(differenceOf(0))] as const
  const everyOf = (file: number): Uint32Array => every[file % 2]!
  const bitsOf = (member: Member, version: number): Uint32Array => {
    let bits = member.held.get(version)
    if (!bits) {
      bits = emptyBits()
      member.held.set(version, bits)
      const old = [...member.held.keys()].sort((a, b) => b - a).slice(KEPT)
      for (const one of old) member.held.delete(one)
    }
    return bits
  }
  /** Any of the chunks in `want`, in no order that others share. */
  const pick = (want: (word: number) => number): number | null => {
    const first = random.int(0, words - 1)
    for (let step = 0; step < words; step++) {
      const word = (first + step) % words
      const bits = want(word) >>> 0
      if (bits === 0) continue
      const turn = random.int(0, WORD - 1)
      const turned = ((bits >>> turn) | (turn === 0 ? 0 : bits << (WORD - turn))) >>> 0
      return word * WORD + ((31 - Math.clz32(turned & -turned) + turn) % WORD)
    }
    return null
  }

  const look = (member: Member, one: Fetching): void => {
    if (time.nowMs < one.lookAtMs) return
    one.lookAtMs = time.nowMs + LOOK_MS
    const found = member.peer.neighbours().flatMap((id) => members.get(id) ?? [])
    // Who is being asked is asked on, as long as it is there.
    const kept = one.sources.filter((source) => found.includes(source))
    const more = found.filter((source) => !kept.includes(source))
    one.sources = [...kept, ...more].slice(0, LIMITS.snapshotSources.value - 1)
  }

  const pull = (member: Member, one: Fetching, taken: Uint32Array, arrived: [Member, number][]): void => {
    const { sources, version } = one
    const start = sources.length > 0 ? random.int(0, sources.length - 1) : 0
    for (let i = 0; i < sources.length && member.down >= chunkBytes; i++) {
      const source = sources[(start + i) % sources.length]!
      const holds = source.held.get(version)
      if (!holds) continue
      for (let slots = 0; slots < LIMITS.snapshotInFlight.value; slots++) {
        if (source.up < chunkBytes || member.down < chunkBytes) break
        const chunk = pick((word) => holds[word]! & ~taken[word]!)
        if (chunk === null) break
        taken[chunk >> 5]! |= 1 << (chunk & 31)
        source.up -= chunkBytes
        member.down -= chunkBytes
        counts.fromPeers += chunkBytes
        one.lastOfOthersMs = time.nowMs
        one.ofOthers += 1
        arrived.push([member, chunk])
      }
    }
  }

  /** What none of the sources has or awaits, of what is not taken. */
  const freshFor = (one: Fetching, taken: Uint32Array): Uint32Array => {
    const fresh = everyOf(one.version).slice()
    for (let word = 0; word < words; word++) fresh[word]! &= ~taken[word]!
    for (const source of one.sources) {
      const holds = source.held.get(one.version)
      if (holds) for (let word = 0; word < words; word++) fresh[word]! &= ~holds[word]!
      const { fetching: other } = source
      if (other?.version === one.version && other.expected !== null)
        fresh[other.expected >> 5]! &= ~(1 << (other.expected & 31))
    }
    return fresh
  }
  const askOrigin = (member: Member, one: Fetching, taken: Uint32Array): void => {
    if (one.expected !== null || (line.length * chunkBytes) / coordinatorBytesPerS > SPENT_AFTER_MS / 1000) return
    let chunk: number | null = null
    one.reason = 'promised'
    if (one.sources.length > 0 && time.nowMs >= one.shareRestsUntilMs) {
      const fresh = freshFor(one, taken)
      const wanted = chunkBits(chunksOf(one.version), (index) => (fresh[index >> 5]! & (1 << (index & 31))) !== 0)
      chunk = givenOf(one.version).promise(member.peer.id, '', wanted)
      if (chunk === null) one.shareRestsUntilMs = time.nowMs + SHARE_REST_MS
      one.lastOfOthersMs = time.nowMs
    }
    const isHeld = one.sources.some(({ held }) => held.has(one.version))
    const othersKeepUp = time.nowMs - one.lastOfOthersMs < KEEP_UP_MS && isHeld
    if (chunk === null && !othersKeepUp) {
      one.reason = isHeld ? 'lacking' : 'alone'
      const fresh = freshFor(one, taken)
      chunk = pick((word) => fresh[word]!)
    }
    const dueOfOthers = Math.floor((time.nowMs - one.startMs) / one.originPatienceMs) * LEAST_OF_OTHERS
    const othersAreSlow =
      time.nowMs - one.lastChunkMs > one.originPatienceMs / (1 + one.originSteps) || one.ofOthers < dueOfOthers
    if (chunk === null && othersAreSlow) {
      one.originSteps += 1
      one.reason = 'slow'
      chunk = pick((word) => everyOf(one.version)[word]! & ~taken[word]!)
    }
    if (chunk === null) return
    one.expected = chunk
    line.push(member)
  }

  const take = (member: Member, chunk: number): void => {
    const { fetching: one } = member
    if (!one) return
    const bits = bitsOf(member, one.version)
    if (bits[chunk >> 5]! & (1 << (chunk & 31))) return
    bits[chunk >> 5]! |= 1 << (chunk & 31)
    one.lastChunkMs = time.nowMs
    one.missing -= 1
    if (one.missing > 0) return
    // Both together make the adapter, which is passed on from now on.
    if (isDifference(one.version)) member.held.set(one.version - 1, everyOf(one.version - 1).slice())
    end(member)
    one.done.resolve()
  }
  const end = (member: Member): void => {
    member.fetching = null
    fetching.delete(member)
  }

  const step = (): void => {
    const seconds = STEP_MS / 1000
    const grow = (left: number, rate: number): number => Math.min(left + rate * seconds, rate * seconds + chunkBytes)
    for (const member of members.values()) member.up = grow(member.up, member.peer.upBytesPerS)
    originUp = grow(originUp, coordinatorBytesPerS)
    const arrived: [Member, number][] = []
    const order = [...fetching]
    const first = order.length > 0 ? random.int(0, order.length - 1) : 0
    for (let i = 0; i < order.length; i++) {
      const member = order[(first + i) % order.length]!
      const one = member.fetching!
      member.down = grow(member.down, member.peer.downBytesPerS)
      look(member, one)
      const taken = bitsOf(member, one.version).slice()
      if (one.expected !== null) taken[one.expected >> 5]! |= 1 << (one.expected & 31)
      pull(member, one, taken, arrived)
      askOrigin(member, one, taken)
    }
    while (line.length > 0 && originUp >= chunkBytes) {
      const member = line.shift()!
      const chunk = member.fetching?.expected ?? null
      if (chunk === null) continue
      originUp -= chunkBytes
      counts.fromCoordinator[member.fetching!.reason] += chunkBytes
      member.fetching!.expected = null
      arrived.push([member, chunk])
    }
    for (const [member, chunk] of arrived) take(member, chunk)
  }
  const run = (): void => {
    isRunning = isOpen && fetching.size > 0
    if (!isRunning) return
    step()
    time.after(STEP_MS, run)
  }

  return {
    counts,
    join: (peer) => void members.set(peer.id, { peer, held: new Map(), up: 0, down: 0, fetching: null }),
    leave(id) {
      const member = members.get(id)
      if (member) end(member)
      members.delete(id)
      for (const one of given.values()) one.forget(id)
    },
    hold: (id, version) => void members.get(id)!.held.set(wholeOf(version), everyOf(wholeOf(version)).slice()),
    fetch(id, version, signal, originPatienceMs = ORIGIN_PATIENCE_MS) {
      const member = members.get(id)
      if (!member) throw new Error(`${id} takes no part`)
      const before = member.held.get(wholeOf(version - 1))
      const hasBefore = before?.every((word, i) => word === everyOf(wholeOf(0))[i]) ?? false
      const isThere = member.held.get(wholeOf(version))?.every((word, i) => word === everyOf(wholeOf(0))[i]) ?? false
      if (isThere) return Promise.resolve()
      const file = hasBefore ? differenceOf(version) : wholeOf(version)
      const bits = bitsOf(member, file)
      let missing = chunksOf(file)
      for (const word of bits) for (let left = word; left !== 0; left &= left - 1) missing -= 1
      if (missing === 0) return Promise.resolve()
      const done = Promise.withResolvers<void>()
      const onAbort = (): void => {
        end(member)
        done.reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      member.fetching = {
        ...{ version: file, done, originPatienceMs, sources: [], lookAtMs: 0, expected: null, reason: 'promised' },
        ...{
          startMs: time.nowMs,
          lastChunkMs: time.nowMs,
          lastOfOthersMs: time.nowMs,
          ofOthers: 0,
          shareRestsUntilMs: time.nowMs,
          originSteps: 0,
          missing,
        },
      }
      fetching.add(member)
      if (!isRunning) {
        isRunning = true
        time.after(STEP_MS, run)
      }
      return done.promise.finally(() => signal.removeEventListener('abort', onAbort))
    },
    close() {
      isOpen = false
    },
  }
}
