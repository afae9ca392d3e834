import { setTimeout as sleep } from 'node:timers/promises'
import { patience } from '../support/patience.js'
import type { Arena } from './arena.js'
import type { Attack, Attempt } from './attack.js'
import type { Participant } from './participant.js'

/** Memory that an attack may cost the coordinator, in bytes; garbage that waits for its collector included. */
const MEMORY_BYTES = 256 * 2 ** 20

export interface NetworkAttack extends Omit<Attack, 'attempt' | 'provable' | 'places'> {
  /** Carries it out. @returns what was not refused as it should have been; nothing when all was */
  carryOut(arena: Arena, node: Participant, i: number, signal: AbortSignal): Promise<readonly string[]>
  /** Messages of one try, among which the cost is divided. */
  readonly messages: number
  /** An honest group has to get its verdict meanwhile, not only answers to questions. */
  readonly withGroup?: boolean
}

/**
 * An attack on the coordinator's time, memory or parsers. It is caught when every message was turned away, nothing of it is on
 * record, memory stayed within its bound, and an honest volunteer at the same address got leases and verdicts meanwhile.
 */
export function networkAttack({ carryOut, messages, withGroup = false, ...attack }: NetworkAttack): Attack {
  return {
    ...attack,
    provable: true,
    places: ['transport', '0'],
    async attempt(arena, i, signal): Promise<Attempt> {
      const node = await arena.recruit()
      try {
        const group = withGroup ? await arena.honest.group(signal) : null
        const [cpuMs, memory] = [arena.cpuMs(), arena.memoryBytes()]
        const [missed, outcome] = await Promise.all([
          carryOut(arena, node, i, signal),
          group && arena.honest.deliver(group),
          arena.honest.ask(signal),
        ])
        const grown = arena.memoryBytes() - memory
        const faults = [...missed]
        if (outcome?.accepted === false) faults.push(`an honest group was refused: ${outcome.code}`)
        if (grown > MEMORY_BYTES) faults.push(`${Math.round(grown / 2 ** 20)} MiB more memory`)
        const record = arena.state().nodes.get(node.peerId)
        if (record && record.verdicts.length > 0) faults.push('verdicts on record')
        const caught = faults.length === 0
        return {
          caught,
          place: caught ? 'transport' : null,
          code: null,
          costMs: (arena.cpuMs() - cpuMs) / messages,
          detail: caught ? `${Math.round(grown / 2 ** 20)} MiB` : faults.slice(0, 3).join('; '),
        }
      } finally {
        await node.close()
      }
    },
  }
}

/** Codes with which the coordinator has turned a peer down since line `from` of its report. */
export function refusalsOf({ run }: Arena, peer: string, from: number): string[] {
  return run.coordinator.lines.slice(from).flatMap((line) => {
    const refusal = line.refusal as { peer: string; code: string } | undefined
    return line.type === 'refusal' && refusal?.peer === peer ? [refusal.code] : []
  })
}

/** Waits for something that the coordinator does. @returns whether it did before our patience was over */
export async function happens(what: () => boolean, signal: AbortSignal): Promise<boolean> {
  for (const over = patience(); !over.aborted; ) {
    if (what()) return true
    await sleep(100, undefined, { signal })
  }
  return false
}
