import type { SeededRandom } from '../../servers/kernel/index.js'
import type { VirtualTime } from './virtual-time.js'

/** How the way between two machines behaves, in both directions. */
export interface Link {
  delayMs: number
  /** Added to the delay, uniformly. */
  jitterMs: number
  bytesPerSecond: number
  /** Chance that a piece of data breaks the whole connection. */
  breaks: number
  /** Chance that a gossiped message does not arrive. */
  gossipLoss: number
  /** Gossiped messages arrive up to so much later than they might, each by itself, so they overtake each other. */
  gossipReorderMs: number
}

export const FAST: Readonly<Link> = {
  delayMs: 10,
  jitterMs: 5,
  bytesPerSecond: 20e6,
  breaks: 0,
  gossipLoss: 0,
  gossipReorderMs: 0,
}

/** The wires: what is between machines, whoever runs on them. */
export interface SimNetwork {
  /** Whether anything may ever block the way between two machines. */
  readonly canBlock: boolean
  /** Notes that something befell a message. */
  readonly blow: (kind: string) => void
  readonly time: VirtualTime
  readonly random: SeededRandom
  /** The way between two machines; changes take effect at once. */
  link(a: string, b: string): Link
  /** Changes every way, those of later machines too. */
  everywhere(change: Partial<Link>): void
  /** Bytes between these machines and all others stop; connections break after a while, new ones cannot be made. */
  partition(machines: readonly string[]): void
  /** Bytes from this machine stop, and nothing ever breaks. */
  stall(machine: string): void
  /** Ends partitions and stalls: what waited arrives. */
  heal(): void
  /** Whether bytes pass from one machine to the other now. */
  passes(from: string, to: string): boolean
  /** Whether the two are on different sides of a partition. */
  parted(a: string, b: string): boolean
  /** Time for a message of that size that does not wait for others. */
  travelMs(from: string, to: string, bytes: number): number
  /** Called at every `heal`. @returns  stops that */
  onHeal(listener: () => void): () => void
  /** Counts what machines send each other. */
  carried: (from: string, to: string, bytes: number) => void
  /** Counts streams that machines open. */
  opened: (from: string, to: string, protocol: string) => void
}

export function createSimNetwork(
  time: VirtualTime,
  random: SeededRandom,
  blow: (kind: string) => void = () => undefined,
  canBlock = true,
): SimNetwork {
  const links = new Map<string, Link>()
  const stalled = new Set<string>()
  const listeners = new Set<() => void>()
  let apart: ReadonlySet<string> = new Set()
  let usual: Link = { ...FAST }
  const link = (a: string, b: string): Link => {
    const key = [a, b].sort().join(' ')
    const known = links.get(key)
    if (known) return known
    const made = { ...usual }
    links.set(key, made)
    return made
  }
  const parted = (a: string, b: string): boolean => apart.has(a) !== apart.has(b)
  return {
    canBlock,
    blow,
    time,
    random,
    link,
    everywhere(change) {
      usual = { ...usual, ...change }
      for (const known of links.values()) Object.assign(known, change)
    },
    partition(machines) {
      apart = new Set(machines)
    },
    stall(machine) {
      stalled.add(machine)
    },
    heal() {
      apart = new Set()
      stalled.clear()
      for (const listener of [...listeners]) listener()
    },
    passes: (from, to) => !stalled.has(from) && !parted(from, to),
    parted,
    travelMs(from, to, bytes) {
      const { delayMs, jitterMs, bytesPerSecond } = link(from, to)
      return delayMs + random.int(0, Math.max(0, Math.round(jitterMs))) + (bytes / bytesPerSecond) * 1000
    },
    carried: () => undefined,
    opened: () => undefined,
    onHeal(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** One direction of a connection: pieces arrive in order, and wait while the way is blocked. */
export interface Wire {
  send(bytes: number, deliver: () => void): void
  close(): void
}

export function createWire(network: SimNetwork, from: string, to: string): Wire {
  const { time } = network
  const held: (() => void)[] = []
  let lastMs = 0
  let open = true
  const flush = (): void => {
    while (open && held.length > 0 && network.passes(from, to)) held.shift()!()
  }
  const stop = network.canBlock
    ? network.onHeal(() => time.after(network.travelMs(from, to, 0), flush))
    : () => undefined
  return {
    send(bytes, deliver) {
      if (!open) return
      network.carried(from, to, bytes)
      const soonest = time.nowMs + network.travelMs(from, to, 0)
      lastMs = Math.max(lastMs, soonest) + (bytes / network.link(from, to).bytesPerSecond) * 1000
      const arrive = (): void => {
        if (!open) return
        held.push(deliver)
        if (network.passes(from, to)) flush()
        else network.blow('held up')
      }
      time.after(lastMs - time.nowMs, arrive, to)
    },
    close() {
      open = false
      held.length = 0
      stop()
    },
  }
}
