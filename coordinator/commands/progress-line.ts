import type { DirectReach } from '../../swarm/index.js'
import { isOfRanks, type TrainerEvent } from '../jobs/trainer-events.js'
import type { EventOf } from '../ledger/events.js'
import { durationOf, scoreWords } from '../report/words.js'
import type { Progress } from '../service/progress.js'

/** Returns one line for the operator; null: the progress is only worth a metric. */
export function progressLine(progress: Progress): string | null {
  switch (progress.type) {
    case 'listening':
      return `listening on ${progress.addresses.join(' ')}`
    case 'dashboard':
      return `dashboard: ${progress.url}`
    case 'no-dashboard':
      return `no dashboard: ${progress.why} The run continues without it.`
    case 'backup':
      return `the run is backed up: ${progress.events} events in ${progress.folder}`
    case 'no-backup':
      return `the run could not be backed up: ${progress.why}`
    case 'invitation':
      return invitationLines(progress.invitation, progress.file, progress.reach)
    case 'dry-run':
      return `dry run: playing ${progress.groups} tasks ${progress.groupSize} times each with the base model, for at most ${durationOf(progress.mostMs)} (skip it with --no-dry-run)`
    case 'no-dry-run':
      return `the dry run failed: ${progress.why}. The run continues without it.`
    case 'no-score':
      return `version ${progress.version} has no held-out score: ${progress.why}. The run continues without it.`
    case 'alarm':
      return `alarm: ${progress.alarm.text}`
    case 'complete':
      return `version ${progress.version} is published: the run is complete, and its adapters are still served`
    case 'refusal': {
      const { peer, code, detail, protocol } = progress.refusal
      return `refused ${code} from ${peer.slice(-8)} on ${protocol}${detail ? `: ${detail}` : ''}`
    }
    case 'trainer':
      return trainerLine(progress.event)
    case 'event':
      return eventLine(progress.event)
  }
}

const UNREACHABLE: Readonly<Record<Exclude<DirectReach, 'anywhere'>, string>> = {
  machine: 'only from this machine',
  network: 'only from this network',
}

function invitationLines(invitation: string, file: string, reach: DirectReach): string {
  const lines = ['volunteers join with', '', `prove-node join ${invitation}`, '', `The invitation is also in ${file}.`]
  if (reach === 'anywhere') return lines.join('\n')
  return [
    ...lines,
    `Warning: volunteers can reach these addresses ${UNREACHABLE[reach]}. To admit others, open the port in your router or firewall`,
    'and name the public address in run.yaml, for example: announce: [/dns4/run.example.org/tcp/4001]',
  ].join('\n')
}

function eventLine(event: Extract<Progress, { type: 'event' }>['event']): string | null {
  switch (event.type) {
    case 'configured':
      return event.changes.length === 0
        ? null
        : `the run configuration changes with the next round${event.ordered ? orderedBy(event.ordered) : ''}: ${event.changes.map(({ field, from, to }) => `${field} ${from} -> ${to}`).join(', ')}`
    case 'rehearsed':
      return rehearsalLine(event)
    case 'published':
      return `version ${event.version} is published, adapter ${event.adapterSha256.slice(0, 12)}`
    case 'rederived':
      return `version ${event.version} was made again by ${event.node.slice(-8)}: ${event.fault === null ? 'it follows from its evidence' : `it does NOT follow (${event.fault})`}`
    case 'scored':
      return scoreLine(event)
    case 'judged': {
      const rewards = event.rewards.map((reward) => reward.toFixed(2)).join(' ')
      const outcome = event.accepted
        ? `accepted${event.audit === 'passed' ? ' after an audit' : ''}${event.zeroVariance ? ' (no variance)' : ''}`
        : `refused: ${event.code} ${event.detail}`
      return `group of ${event.node.slice(-8)} for version ${event.version} ${outcome}, rewards ${rewards}`
    }
    case 'audited': {
      const where = event.batchId === undefined ? '' : ` and left out of batch ${event.batchId}`
      const outcome = event.accepted ? 'passed a later audit' : `is revoked${where}: ${event.code} ${event.detail}`
      return `group ${event.leaseId.slice(0, 8)} of ${event.node.slice(-8)} ${outcome}`
    }
    case 'registered':
      return `${event.node.slice(-8)} is new and gets leases from the next round on`
    case 'left':
      return `${event.node.slice(-8)} ended its work at version ${event.version}: ${event.reason}${event.detail === '' ? '' : ` (${event.detail})`}`
    case 'attended':
      return 'a volunteer is at work again'
    case 'relieved':
      return 'groups, connections and streams are as before again'
    case 'repaired':
      return `the log was repaired: ${event.lost} events were lost`
    case 'team-joined':
      return `${event.node.slice(-8)} ${event.team === null ? 'left its team' : `joined the team ${event.team}`}`
    case 'environment-quarantined':
      return `environment ${event.environment} is nondeterministic: two replays gave different results; its tasks are disabled`
    case 'body-lost':
      return `group ${event.leaseId.slice(0, 8)} is lost to training: ${event.detail}`
    case 'batched':
      if (event.backTo !== undefined) return `step ${event.step} restores the policy of step ${event.backTo}`
      return `batch ${event.batchId}: ${event.leaseIds.length} groups for step ${event.step}`
    case 'batch-audited':
      return `batch ${event.batchId}: ${event.groups.length} groups passed the audit by the training forward pass`
    case 'batch-doubted': {
      const groups = event.leaseIds.map((leaseId) => leaseId.slice(0, 8)).join(' ')
      return `batch ${event.batchId} contains unaudited groups of ${event.node.slice(-8)}, which was caught later: ${groups}`
    }
    case 'batch-refused':
      return `batch ${event.batchId} cannot be trained on: ${event.code} ${event.detail}`
    case 'trained':
      return event.skipped ? `step ${event.step} made no update` : null
    case 'paused':
      return `the run is paused${orderedBy(event)}: open leases and the current step are finished`
    case 'resumed':
      return `the run is resumed${orderedBy(event)}`
    case 'banned':
      return `${event.node} is banned${orderedBy(event)}`
    case 'unbanned':
      return `${event.node} has its reputation back${orderedBy(event)}`
    case 'task-dropped':
      return `the task ${event.taskId} is dropped${orderedBy(event)}`
    case 'environment-disabled':
      return `environment ${event.environment} is disabled${orderedBy(event)}`
    case 'environment-enabled':
      return `environment ${event.environment} is enabled again${orderedBy(event)}`
    case 'rollback-ordered':
      return `the run rolls back to version ${event.version}${orderedBy(event)}`
    case 'announced':
      return `announced${orderedBy(event)}: ${[event.message, ...event.addresses].filter((part) => part !== '').join(' ') || 'nothing'}`
    case 'written-by':
    // The alarm says more.
    case 'unattended':
    case 'strained':
    case 'reopened':
    case 'leased':
    case 'renewed':
    case 'released':
      return null
  }
}

const orderedBy = ({ by, reason }: { readonly by: { readonly who: string }; readonly reason: string | null }): string =>
  ` (${by.who}${reason === null ? '' : `: ${reason}`})`

function rehearsalLine({
  groups,
  rollouts,
  solved,
  reward,
  calls,
  zeroVariance,
  isWhole,
}: EventOf<'rehearsed'>): string {
  if (groups === 0)
    return 'dry run: no task was finished in time; the model is too slow for this machine, or the machine is busy'
  const per = (calls / rollouts).toFixed(1)
  const rest = isWhole ? '' : '; it ended early because its time was up'
  return `dry run: ${rollouts} rollouts of ${groups} tasks, ${solved} solved, mean reward ${reward.toFixed(3)}, ${per} calls each, ${zeroVariance} zero-variance groups${rest}`
}

const scoreLine = (event: EventOf<'scored'>): string =>
  `version ${event.version} on ${event.tasks} held-out tasks: ${scoreWords(event)}`

function trainerLine(trainerEvent: TrainerEvent): string | null {
  const { event, step, reason, code, message, batchId, ...rest } = trainerEvent
  if (isOfRanks(trainerEvent)) {
    const words = trainerEvent.ranks.map(({ rank, host, ended }) => `${rank} on ${host}${ended ? ' (ended)' : ''}`)
    return words.length === 0 ? null : `trainer: ranks ${words.join(', ')}`
  }
  switch (event) {
    case 'ready':
      return `trainer: ready at step ${step}`
    case 'step':
      return rest.stats ? `trainer: step ${step}, ${statsText(rest.stats as Record<string, unknown>)}` : null
    case 'skipped':
      return reason === 'drift'
        ? `trainer: the samplers' policy has drifted too far from the trainer's; step ${step} restores the adapter of step ${rest.adapterStep}`
        : reason === 'rollback'
          ? `trainer: step ${step} has the adapter of step ${rest.adapterStep} again`
          : `trainer: step ${step} skipped: ${reason}`
    case 'error':
      return `trainer: ended with ${code}: ${message}${batchId == null ? '' : ` (batch ${batchId})`}`
    default:
      return null
  }
}

/** Numbers that show whether a step went well, by their names in docs/reference/trainer.md. */
const SHOWN_STATS: readonly (readonly [name: string, words: string, digits: number])[] = [
  ['loss', 'loss', 4],
  ['mismatchKl', 'KL', 5],
  ['gradNorm', 'gradient', 3],
  ['rewardMean', 'reward', 3],
  ['trainedRollouts', 'rollouts', 0],
  ['lossTokens', 'tokens', 0],
]

const statsText = (stats: Readonly<Record<string, unknown>>): string =>
  SHOWN_STATS.flatMap(([name, words, digits]) => {
    const value = stats[name]
    return typeof value === 'number' ? [`${words} ${value.toFixed(digits)}`] : []
  }).join(', ')
