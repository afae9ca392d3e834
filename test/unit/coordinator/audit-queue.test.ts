import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AuditJobRunner, createAuditQueue, type JobSubject } from '../../../coordinator/intake/audit-queue.js'
import { TrainerError } from '../../../coordinator/jobs/errors.js'
import type { AuditedGroup, SampledToken } from '../../../rollout/verification/index.js'
import { AMPLE } from '../../support/scripted.js'

// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()
const group = (leaseId: string): AuditedGroup => ({ leaseId, leaseSeed: new Uint8Array(32), rollouts: [] })
const of = (adapterSha256: string, limits = AMPLE): JobSubject => ({ adapterSha256, limits })
/** Evidence that names its group. */
const about = (one: AuditedGroup): SampledToken[] => [{ claimed: Number(one.leaseId) } as SampledToken]

/** A runner that waits to be let on, and the jobs it was given. */
function stalled(answer: (groups: readonly AuditedGroup[]) => SampledToken[][]) {
  const jobs: [adapter: string, ...leases: string[]][] = []
  let letOn = Promise.withResolvers<void>()
  const run: AuditJobRunner = async ({ adapterSha256 }, groups) => {
    jobs.push([adapterSha256, ...groups.map(({ leaseId }) => leaseId)])
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
  const tokenScores = Array.from({ length: 12 }, (_, i) =>
    queue.tokenScores(of(i === 3 ? 'b' : 'a'), group(String(i)), true),
  )
  // Those that are waited for later must not end the suite when they fail now.
  for (const one of tokenScores) one.catch(() => undefined)
  for (const settled of [[0], [1, 2, 4, 5, 6, 7, 8, 9], [3], [10, 11]]) {
    next()
    assert.equal(
      (await Promise.all(settled.map((i) => tokenScores[i]!))).map((tokens) => tokens![0]!.claimed),
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

test('who is known to deliver waits for no more than the job that has begun, however many others came before', async () => {
  const { jobs, run, next } = stalled((groups) => groups.map(about))
  const queue = createAuditQueue(run, signal)
  const others = Array.from({ length: 5 }, (_, i) => queue.tokenScores(of('a'), group(String(i)), false))
  const reliable = ['10', '11', '12'].map((leaseId) => queue.tokenScores(of('a'), group(leaseId), true))
  next()
  await Promise.all(others.slice(0, 1))
  next()
  await Promise.all(reliable)
  next()
  await Promise.all(others.slice(1, 3))
  next()
  await Promise.all(others)
  assert.equal(jobs, [
    ['a', '0'],
    ['a', '10', '11', '12'],
    ['a', '1', '2'],
    ['a', '3', '4'],
  ])
})

test('groups whose leases have other limits, and so other draws, are in another job', async () => {
  const seen: [turns: number, leases: string[]][] = []
  const queue = createAuditQueue(async ({ limits }, groups) => {
    seen.push([limits.maxAssistantTurns, groups.map(({ leaseId }) => leaseId)])
    return groups.map(about)
  }, signal)
  const fewer = { ...AMPLE, maxAssistantTurns: 3 }
  await Promise.all(
    ['1', '2', '3', '4'].map((leaseId, i) => queue.tokenScores(of('a', i % 2 ? fewer : AMPLE), group(leaseId), true)),
  )
  assert.equal(seen, [
    [AMPLE.maxAssistantTurns, ['1']],
    [fewer.maxAssistantTurns, ['2', '4']],
    [AMPLE.maxAssistantTurns, ['3']],
  ])
})

test('a group that cannot be computed does not take the others of its job with it', async () => {
  const queue = createAuditQueue(async (_, groups) => {
    if (groups.some(({ leaseId }) => leaseId === '2')) throw new TrainerError('audit_refused', 'too long')
    return groups.map(about)
  }, signal)
  const found = await Promise.all(['1', '2', '3'].map((leaseId) => queue.tokenScores(of('a'), group(leaseId), true)))
  assert.equal(
    found.map((tokens) => tokens?.[0]?.claimed ?? null),
    [1, null, 3],
  )
})

test('when the process has failed, every waiting group gets the error, and the queue continues', async () => {
  let broken = true
  const queue = createAuditQueue(async (_, groups) => {
    if (broken) throw new TrainerError('trainer_failed', 'no such file')
    return groups.map(about)
  }, signal)
  const codes = await Promise.all(
    ['1', '2'].map((leaseId) =>
      queue.tokenScores(of('a'), group(leaseId), true).catch((error: TrainerError) => error.code),
    ),
  )
  assert.equal(codes, ['trainer_failed', 'trainer_failed'])
  broken = false
  assert.is((await queue.tokenScores(of('a'), group('3'), true))?.[0]?.claimed, 3)
})

test.run()
