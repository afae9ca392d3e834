import type { Absence, EventOf } from '../ledger/events.js'
import { timeOf } from './words.js'

const WORDS: Readonly<Record<Absence['reason'], string>> = {
  canary_failed: 'left with canary_failed',
  incompatible: 'left with incompatible',
  wrong_base: 'left with wrong_base',
  bad_lease: 'left with bad_lease',
  broken_environment: 'left with broken_environment',
  engine_failed: 'left with engine_failed',
  unwritable: 'left with unwritable',
  failed: 'left with an error',
  other_version: 'speak another version of the protocol',
  disconnected: 'disconnected without a reason',
  silent: 'connected but send no request',
}

const UPDATE = 'ask their owners to update: prove-coordinator announce "Please update prove-node"'

const ADVICE: Readonly<Record<Absence['reason'], (version: number) => string>> = {
  canary_failed: (version) =>
    `their engines do not reproduce version ${version}. On such a machine run prove-lab calibrate --config run.yaml --out calibration.json, name the file in audit.calibrations and restart${version === 0 ? '' : `; or go back: prove-coordinator rollback ${version - 1}`}`,
  incompatible: () => UPDATE,
  wrong_base: () =>
    'they run another file: the SHA-256 of base.path must be the one that volunteers fetch from base.sources',
  bad_lease: () => UPDATE,
  broken_environment: () =>
    'see prove-coordinator nodes, and disable the environment: prove-coordinator disable-environment NAME',
  engine_failed: () =>
    'their machines may lack memory for the model: lower groupSize or limits.maxRolloutTokens with prove-coordinator set',
  unwritable: () => 'their disks may be full: ask their owners with prove-coordinator announce',
  failed: () => 'ask their owners for the last line of prove-node join',
  other_version: () => UPDATE,
  disconnected: () =>
    'check the network of this machine, and that others can reach an address of prove-coordinator invitation',
  silent: () => 'their owners may have paused them: prove-coordinator nodes shows when each was seen',
}

/** Says since when a run has no volunteers, why, and what the operator can do. */
export function absenceText({ atMs, version, causes }: EventOf<'unattended'>): string {
  const [main] = causes
  if (!main)
    return 'no volunteer has asked for work yet, or since the coordinator started: send people the text of prove-coordinator invitation'
  const named = causes.map(
    ({ reason, nodes, detail }) => `${nodes} ${WORDS[reason]}${detail === '' ? '' : ` (${detail})`}`,
  )
  return `no volunteer is at work on version ${version} since ${timeOf(atMs)}: ${named.join('; ')}. What to do: ${ADVICE[main.reason](version)}`
}
