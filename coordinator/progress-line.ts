import type { Progress } from './coordinator.js'

/** One line for the operator, or `null` for what is only worth a metric. */
export function progressLine(progress: Progress): string | null {
  switch (progress.type) {
    case 'listening':
      return progress.addresses.map((address) => `volunteers join with: prove-node join ${address}`).join('\n')
    case 'complete':
      return `version ${progress.version} is published: the run is complete; its adapters are served on`
    case 'refusal': {
      const { peer, code, detail, protocol } = progress.refusal
      return `refused ${code} from ${peer.slice(-8)} on ${protocol}${detail ? `: ${detail}` : ''}`
    }
    case 'trainer': {
      const stats = progress.event.stats as Record<string, unknown> | undefined
      return `trainer: step ${progress.event.step} ${progress.event.event}${stats ? ` ${JSON.stringify(stats).slice(0, 200)}` : ''}`
    }
    case 'event':
      return eventLine(progress.event)
  }
}

function eventLine(event: Extract<Progress, { type: 'event' }>['event']): string | null {
  switch (event.type) {
    case 'published':
      return `version ${event.version} is published, adapter ${event.adapterSha256.slice(0, 12)}`
    case 'judged': {
      const rewards = event.rewards.map((reward) => reward.toFixed(2)).join(' ')
      const outcome = event.accepted
        ? `accepted${event.flat ? ' (no variance)' : ''}`
        : `refused: ${event.code} ${event.detail}`
      return `group of ${event.node.slice(-8)} for version ${event.version} ${outcome}, rewards ${rewards}`
    }
    case 'batched':
      return `batch ${event.batchId}: ${event.leaseIds.length} groups for step ${event.step}`
    case 'batch-refused':
      return `batch ${event.batchId} was refused by the trainer: ${event.code} ${event.detail}`
    case 'trained':
      return event.skipped ? `step ${event.step} left the policy as it was` : null
    case 'leased':
    case 'released':
      return null
  }
}
