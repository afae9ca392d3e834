import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { meterChecks } from '../../../coordinator/intake/metrics.js'
import { meterTrainer } from '../../../coordinator/jobs/metrics.js'
import { meterAnswers } from '../../../coordinator/leases/metrics.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { meterRun } from '../../../coordinator/ledger/metrics.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { NodesTally } from '../../../coordinator/report/node-report.js'
import { createMetrics } from '../../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'
import { memoryLog } from '../../support/memory-log.js'
import { agreed, done, judged, leased, published, released } from '../../support/run-events.js'

/** Samples without help and type. */
const samples = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('metrics show the run’s current state, and count events since the start of the program', async () => {
  const metrics = createMetrics()
  const recorder = await openRecorder(memoryLog([agreed(), published(0), ...done('a', 'ann', 0)]), () => undefined)
  meterRun(metrics, recorder)
  await recorder.record(() => leased('b', 'ben', 0))
  await recorder.record(() => leased('c', 'ben', 0))
  await recorder.record(() => judged('b', 'ben', 0, { accepted: false, code: 'state_mismatch' }))
  const stated = samples(await metrics.metrics())
  for (const line of [
    'prove_events_total{type="leased"} 2',
    'prove_events_total{type="judged"} 1',
    'prove_verdicts_total{outcome="refused",code="state_mismatch"} 1',
    'prove_version 0',
    'prove_leases_open 1',
    'prove_groups_trainable 1',
    'prove_keys_reliable 1',
  ])
    assert.ok(stated.includes(line), `${line} in\n${stated.join('\n')}`)
})

test('an operator sees how many keys are held back, and which', async () => {
  const metrics = createMetrics()
  const logitErrors = { ...NO_LOGIT_ERRORS, odds: [8, 0, 0, 0] }
  const log: RunEvent[] = [
    agreed(),
    published(0),
    { type: 'registered', atMs: 0, node: 'ann', round: 0 },
    ...done('a', 'ann', 0, { audit: 'passed', logitErrors }),
    ...done('b', 'ben', 0, { audit: 'passed', logitErrors: NO_LOGIT_ERRORS }),
  ]
  meterRun(metrics, await openRecorder(memoryLog(log.slice(0, 3)), () => undefined))
  assert.ok(samples(await metrics.metrics()).includes('prove_keys_held_back 0'))
  const later = createMetrics()
  meterRun(later, await openRecorder(memoryLog(log), () => undefined))
  assert.ok(samples(await later.metrics()).includes('prove_keys_held_back 1'))
  const nodes = new NodesTally()
  for (const event of log) if (!('node' in event) || event.node === 'ann') nodes.add(event)
  assert.equal(nodes.report(0)[0]!.reputation, { kind: 'held back' })
})

test('metrics name the keys that abandon most leases, at most twenty', async () => {
  const metrics = createMetrics()
  const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`)
  const dropped = keys.flatMap((node, i) =>
    Array.from({ length: i }, () => [leased(`${node} drops`, node, 0), released(`${node} drops`)]).flat(),
  )
  const log = [agreed(), published(0), ...dropped, ...done('a', 'key-29', 0)]
  meterRun(metrics, await openRecorder(memoryLog(log), () => undefined))
  const stated = samples(await metrics.metrics())
  for (const line of [
    'prove_leases_abandoned 435',
    'prove_key_leases{node="key-29",end="abandoned"} 29',
    'prove_key_leases{node="key-29",end="judged"} 1',
    'prove_key_leases{node="key-10",end="abandoned"} 10',
  ])
    assert.ok(stated.includes(line), `${line} in\n${stated.join('\n')}`)
  assert.is(stated.filter((line) => line.startsWith('prove_key_leases')).length, 40)
})

test('verification checks, lease answers and trainer steps are metrics of the same registry', async () => {
  const metrics = createMetrics()
  const watch = meterChecks(metrics)
  watch.onCheck(3, 'passed', 20)
  watch.onCheck(3, 'refused', 2)
  const answered = meterAnswers(metrics)
  answered(null)
  answered('no_work')
  const trained = meterTrainer(metrics)
  trained({ event: 'step', step: 1, stats: { loss: 0.5, note: 'a word' } })
  const rank = (host: string, ended: boolean) => ({ host, ended, rank: 0, pid: 1, beat: 1, error: null })
  const ranks = [rank('gone', false), rank('gpu1', false)]
  trained({ event: 'ranks', ranks })
  trained({ event: 'ranks', ranks: [rank('gpu1', false), rank('gpu1', false), rank('gpu2', true)] })
  const stated = samples(await metrics.metrics())
  for (const line of [
    'prove_check_seconds_count{check="3 replay",outcome="passed"} 1',
    'prove_check_seconds_sum{check="3 replay",outcome="passed"} 0.02',
    'prove_check_seconds_bucket{le="0.01",check="3 replay",outcome="refused"} 1',
    'prove_lease_answers_total{reason=""} 1',
    'prove_lease_answers_total{reason="no_work"} 1',
    'prove_trainer_events_total{event="step"} 1',
    'prove_trainer_step_stat{stat="loss"} 0.5',
    'prove_trainer_ranks{host="gpu1"} 2',
    'prove_trainer_ranks{host="gpu2"} 0',
  ])
    assert.ok(stated.includes(line), `${line} in\n${stated.join('\n')}`)
  assert.not(stated.some((line) => line.includes('note') || line.includes('gone')))
})

test('every number says what it is, and is named with the prefix of the project', async () => {
  const metrics = createMetrics()
  meterRun(metrics, await openRecorder(memoryLog([]), () => undefined))
  meterChecks(metrics)
  meterAnswers(metrics)
  meterTrainer(metrics)
  for (const { name, help } of await metrics.getMetricsAsJSON()) {
    assert.match(name, /^prove_[a-z_]+$/)
    assert.ok(help.length > 10, name)
  }
})

test.run()
