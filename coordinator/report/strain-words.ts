import type { EventOf, StrainCause } from '../ledger/events.js'
import { timeOf } from './words.js'

const WORDS: Readonly<Record<StrainCause['reason'], string>> = {
  streams_full: 'streams are full',
  disconnected: 'nodes have disconnected',
  audits_behind: 'too many groups wait for audits',
  leases_held: 'leases are held without groups',
}

const ADVICE: Readonly<Record<StrainCause['reason'], string>> = {
  streams_full:
    'reliable keys keep their part. Block the addresses at the firewall if they do no work: prove-coordinator nodes shows what each key has delivered',
  disconnected:
    'check the network of this machine, and that others can reach an address of prove-coordinator invitation',
  audits_behind: 'add processes with audit.processes, or a faster machine (docs/operate/sizing.md)',
  leases_held:
    'prove-coordinator nodes shows the keys that abandon leases; ban a key that does no work: prove-coordinator ban KEY',
}

const WITHOUT_CAUSE =
  'the coordinator sees no cause. prove-coordinator nodes shows when each key was seen, and prove-coordinator events shows the last events'

/** Says what fell, since when, the causes that the coordinator sees, and what the operator can do. */
export function strainText({ atMs, what, before, now, causes }: EventOf<'strained'>): string {
  const since = timeOf(atMs)
  const fell =
    what === 'groups'
      ? `since ${since} only ${now.toFixed(1)} groups a minute arrive, of ${before.toFixed(1)} before`
      : what === 'connections'
        ? `since ${since} only ${now} nodes are connected, of ${before} before`
        : `since ${since} peers find no free stream`
  const [main] = causes
  if (!main) return `${fell}: ${WITHOUT_CAUSE}`
  const named = causes.map(({ reason, detail }) => `${WORDS[reason]}${detail === '' ? '' : ` (${detail})`}`)
  return `${fell}: ${named.join('; ')}. What to do: ${ADVICE[main.reason]}`
}
