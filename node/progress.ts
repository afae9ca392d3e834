import type { Verdict } from '../proto/index.js'

/** What a volunteer, or a program that started the node, is told as it happens. */
export type NodeProgress =
  | { readonly type: 'ready'; readonly peerId: string; readonly backend: string }
  | { readonly type: 'policy'; readonly version: number; readonly policyId: string }
  | {
      readonly type: 'group'
      readonly leaseId: string
      readonly version: number
      readonly rewards: readonly number[]
      /** Tokens sampled in all rollouts, and the time it took. */
      readonly tokens: number
      readonly ms: number
    }
  | { readonly type: 'verdict'; readonly verdict: Verdict }
  | { readonly type: 'dropped'; readonly leaseId: string; readonly code: string }
  /** The coordinator has not been reached for some seconds; the node goes on trying. */
  | { readonly type: 'offline' }
  /** There is no work at the moment. `waiting`: finished groups without a verdict. */
  | { readonly type: 'idle'; readonly reason: string; readonly detail: string; readonly waiting: number }

/** One line for the volunteer, or `null` for what happens too often to be worth one. */
export function progressLine(progress: NodeProgress): string | null {
  switch (progress.type) {
    case 'ready':
      return `node ${progress.peerId}, inference on ${progress.backend}`
    case 'policy':
      return `policy version ${progress.version} is loaded and passed its canary`
    case 'group': {
      const mean = progress.rewards.reduce((sum, reward) => sum + reward, 0) / progress.rewards.length
      const speed = Math.round((1000 * progress.tokens) / progress.ms)
      return `group of ${progress.rewards.length} for version ${progress.version}: mean reward ${mean.toFixed(3)}, ${speed} tokens/s`
    }
    case 'verdict': {
      const { accepted, code, detail, credit } = progress.verdict
      return accepted ? `accepted, credit ${credit}` : `refused: ${code}${detail ? ` (${detail})` : ''}`
    }
    case 'dropped':
      return `group ${progress.leaseId.slice(0, 8)} was not taken: ${progress.code}`
    case 'offline':
      return 'the coordinator cannot be reached; trying again'
    case 'idle':
      return null
  }
}
