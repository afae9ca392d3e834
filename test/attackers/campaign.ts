import type { Arena } from './arena.js'
import type { Attack, Attempt } from './attack.js'

export interface AttackResult {
  readonly name: string
  readonly provable: boolean
  readonly tries: number
  readonly caught: number
  /** Where it was stopped, in the order of the judging table. */
  readonly check: string
  /** Mean CPU time per try. */
  readonly costMs: number
}

export interface CampaignReport {
  readonly attacks: readonly AttackResult[]
  readonly honest: { readonly groups: number; readonly refused: number }
}

export interface CampaignOptions {
  readonly attacks: readonly Attack[]
  readonly tries: number
  /** Honest groups to judge in all. Those that attacks need as victims count. */
  readonly honest: number
  readonly signal: AbortSignal
  onAttempt(attack: Attack, attempt: Attempt, i: number): void
  onHonest(done: number): void
}

/**
 * Carries out attacks one after the other, with honest volunteers at work in between. A try that fails for a reason of its
 * own proves nothing, so it counts as missed.
 */
export async function runCampaign(arena: Arena, options: CampaignOptions): Promise<CampaignReport> {
  const { attacks, tries, honest, signal } = options
  const results: AttackResult[] = []
  // The audit process starts with the first group, and no attack is to be charged for that.
  await arena.honest.deliver(await arena.honest.group(signal))
  for (const attack of attacks) {
    const attempts: Attempt[] = []
    for (let i = 0; i < tries; i++) {
      const attempt = await attack.attempt(arena, i, signal).catch((error: Error): Attempt => {
        signal.throwIfAborted()
        return { caught: false, place: null, code: null, costMs: 0, detail: `it failed: ${error.message}` }
      })
      options.onAttempt(attack, attempt, i)
      attempts.push(attempt)
    }
    results.push(summary(attack, attempts))
  }
  while (arena.honest.groups < honest) {
    await arena.honest.deliver(await arena.honest.group(signal))
    options.onHonest(arena.honest.groups)
  }
  return { attacks: results, honest: { groups: arena.honest.groups, refused: arena.honest.refused.length } }
}

function summary({ name, provable }: Attack, attempts: readonly Attempt[]): AttackResult {
  const places = [...new Set(attempts.flatMap(({ place }) => place ?? []))].sort()
  return {
    name,
    provable,
    tries: attempts.length,
    caught: attempts.filter(({ caught }) => caught).length,
    check: places.join(', '),
    costMs: Number((attempts.reduce((sum, { costMs }) => sum + costMs, 0) / attempts.length).toPrecision(3)),
  }
}
