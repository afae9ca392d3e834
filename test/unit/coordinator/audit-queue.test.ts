import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AuditJobRunner, createAuditQueue } from '../../../coordinator/intake/audit-queue.js'
import { TrainerError } from '../../../coordinator/spool/errors.js'
import type { AuditedGroup, SampledToken } from '../../../judging/index.js'

// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()
const group = (leaseId: string): AuditedGroup => ({ leaseId, leaseSeed: new Uint8Array(32), rollouts: [] })
/** Evidence that names its group. */
const about = (one: AuditedGroup): SampledToken[] => [{ claimed: Number(one.leaseId) } as SampledToken]

/** A runner that waits to be let on, and the jobs it was given. */
function stalled(answer: (groups: readonly AuditedGroup[]) => SampledToken[][]) {
  const jobs: [adapter: string, ...leases: string[]][] = []
  let letOn = Promise.withResolvers<void>()
  const run: AuditJobRunner = async (adapter, groups) => {
    jobs.push([adapter, ...groups.map(({ leaseId }) => leaseId)])
    await letOn.promise
    return answer(groups)
  }
  const next = (): void => {
    letOn.resolve()
    letOn = Promise.withResolvers()
  }
  return { jobs, run, next }
}

test('while one job is computed the next fills up, each of one policy and of eight groups at most', async () => {
  const { jobs, run, next } = stalled((groups) => groups.map(about))
  const queue = createAuditQueue(run, signal)
  const evidence = Array.from({ length: 12 }, (_, i) => queue.evidence(i === 3 ? 'b' : 'a', group(String(i))))
  // Those that are waited for later must not end the suite when they fail now.
  for (const one of evidence) one.catch(() => undefined)
  for (const settled of [[0], [1, 2, 4, 5, 6, 7, 8, 9], [3], [10, 11]]) {
    next()
    assert.equal(
      (await Promise.all(settled.map((i) => evidence[i]!))).map((tokens) => tokens![0]!.claimed),
      settled,
    )
  }
  assert.equal(jobs, [
    ['a', '0'],
    ['a', '1', '2', '4', '5', '6', '7', '8', '9'],
    ['b', '3'],
    ['a', '10', '11'],
  ])
})

test('a group that cannot be computed does not take the others of its job with it', async () => {
  const queue = createAuditQueue(async (_, groups) => {
    if (groups.some(({ leaseId }) => leaseId === '2')) throw new TrainerError('audit_refused', 'too long')
    return groups.map(about)
  }, signal)
  const found = await Promise.all(['1', '2', '3'].map((leaseId) => queue.evidence('a', group(leaseId))))
  assert.equal(
    found.map((tokens) => tokens?.[0]?.claimed ?? null),
    [1, null, 3],
  )
})

test('when the process is of no use any more every waiting group hears it, and the queue goes on', async () => {
  let broken = true
  const queue = createAuditQueue(async (_, groups) => {
    if (broken) throw new TrainerError('trainer_failed', 'no such file')
    return groups.map(about)
  }, signal)
  const codes = await Promise.all(
    ['1', '2'].map((leaseId) => queue.evidence('a', group(leaseId)).catch((error: TrainerError) => error.code)),
  )
  assert.equal(codes, ['trainer_failed', 'trainer_failed'])
  broken = false
  assert.is((await queue.evidence('a', group('3')))?.[0]?.claimed, 3)
})

test.run()
