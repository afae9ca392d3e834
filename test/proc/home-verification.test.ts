// needs: python

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkCanary } from '../../node/policy/canary.js'
import { openNodeStore } from '../../node/store/store.js'
import { type Canary, groupBody, openManifest, type Verdict } from '../../proto/index.js'
import { openEngine } from '../../rollout/engine/index.js'
import { createTaskRuntime } from '../../servers/episodes/index.js'
import { readPublished } from '../../servers/episodes/playground/published.js'
import { verifyPublished } from '../../servers/episodes/playground/verify-published.js'
import { openIdentity } from '../../swarm/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'
import { createMachine, demoModel, type Machine } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { settled, startRun, stop } from './runs.js'

/** One short run with the real engine leaves a node's data directory behind, from which everything here is judged again. */

const model = demoModel()
let machine: Machine
let runId = ''
let dataDir = ''

test.before(
  stated(async () => {
    machine = await createMachine()
    const run = await startRun(machine, 'run', { config: { batchGroups: 1, versions: 1 } })
    runId = run.runId
    const node = run.node('ann')
    dataDir = join(machine.folder, 'run', 'ann')
    await node.until('the last version', ({ type, version }) => type === 'policy' && version === 1)
    await node.until('nothing left to do', settled)
    await stop(node, run.coordinator)
  }),
)
test.after(() => machine.close())

test('a publication contains the scores of its policy, and a canary failure states the likely reason', async () => {
  const data = join(machine.folder, 'run', 'coordinator')
  const { manifest } = await openManifest(await readFile(join(data, 'manifests', '000001.manifest')), runId)
  const never = new AbortController().signal
  const engine = await openEngine({ modelPath: model, threads: 1, contextSize: 512, slots: 4, gpu: false })
  try {
    const { sha256 } = manifest.policy.adapter!
    await engine.usePolicy({ path: join(data, 'blobs', sha256), sha256 }, never)
    const under = (...canary: Canary[]) => ({ canary, canaryTolerance: { mean: 0.02, max: 0.3 } })
    await checkCanary(engine, under(...manifest.canary), never)
    await engine.usePolicy(null, never)
    // The adapter of one step is not far from the base, so the canary's own numbers stand in for a policy further off.
    const [first] = manifest.canary
    const far = { ...first!, policyLogprobs: first!.policyLogprobs.map((logprob) => logprob - 1) }
    await failing(checkCanary(engine, under(far), never), /canary_failed: .*the adapter is not applied/)
    const near = { ...first!, policyLogprobs: first!.baseLogprobs.map((logprob) => logprob - 0.1) }
    await failing(
      checkCanary(engine, under({ ...near, baseLogprobs: near.policyLogprobs }), never),
      /rounds differently/,
    )
    const lost = first!.policyLogprobs.map((logprob) => logprob - 2)
    await failing(
      checkCanary(engine, under({ ...far, baseLogprobs: lost, policyLogprobs: lost }), never),
      /like another model/,
    )
  } finally {
    await engine.close()
  }
})

async function failing(work: Promise<unknown>, why: RegExp): Promise<void> {
  const error = await work.then(
    () => assert.unreachable('the canary passed'),
    (reason: unknown) => reason,
  )
  assert.match((error as Error).message, why)
}

async function prove(...args: string[]): Promise<{ code: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [join(checkout, 'dist/node/main.js'), ...args], {
    cwd: machine.folder,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    reject: false,
    timeout: PATIENCE_MS,
    stdin: 'ignore',
  })
  return { code: exitCode, stdout, stderr }
}
const verify = (...more: string[]) => prove('verify-group', '--data-dir', dataDir, '--model', model, '--cpu', ...more)

interface Report {
  readonly verdicts: readonly Verdict[]
  readonly checks: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[]
}
async function report(...more: string[]): Promise<{ code: number | undefined } & Report> {
  const { code, stdout, stderr } = await verify('--json', ...more)
  assert.ok(stdout.startsWith('{'), stderr)
  return { code, ...(JSON.parse(stdout) as Report) }
}
const outcomes = ({ checks }: Report): string[] => checks.map(({ outcome }) => outcome)

test('a node lists its verdicts offline, with reasons and the total credit', async () => {
  const { code, stdout } = await prove('verdicts', '--data-dir', dataDir, '--json')
  assert.is(code, 0)
  const { runs } = JSON.parse(stdout)
  assert.is(runs.length, 1)
  const [{ run, totals, verdicts }] = runs
  assert.is(run, runId)
  assert.ok(totals.accepted >= 1)
  assert.is(
    totals.credit,
    (verdicts as Verdict[]).reduce((sum, { credit }) => sum + credit, 0),
  )
  const text = (await prove('verdicts', '--data-dir', dataDir)).stdout
  assert.match(text, new RegExp(`^run ${runId}\n`))
  assert.match(text, /group [0-9a-f]{8} accepted, credit \d+/)
  assert.match(text, /\d+ groups: \d+ accepted/)
})

test('an honest group passes verification by its node: seed, replay and all sampled tokens', async () => {
  const found = await report()
  assert.is(found.code, 0)
  assert.equal(outcomes(found), [
    'ok',
    'not checked',
    'ok',
    'ok',
    'ok',
    'not checked',
    'measured',
    'measured',
    'measured',
  ])
  assert.match(found.checks[6]!.detail, /tokens, claimed log-probabilities 0\.00\d* nats off on average/)
  const file = join(machine.folder, 'group.json')
  const { code, stdout } = await verify('--out', file)
  assert.is(code, 0)
  const published = readPublished(await readFile(file, 'utf8'), (id) => {
    throw new Error(`the task ${id} is not in the file`)
  })
  const { findings, signer } = await verifyPublished(published, createTaskRuntime(CATALOGUE))
  assert.equal(
    findings.filter(({ outcome }) => outcome !== 'passed').map(({ outcome, check }) => [outcome, check]),
    [['unchecked', 'Prompt, tokens, log-probabilities and sampling']],
  )
  assert.is(signer, (await openIdentity(dataDir)).peerId)
  assert.match(stdout, /^lease seed +ok +derived from the secret of round \d+$/m)
  assert.match(stdout, /^check 3, replay +ok +4 rollouts with \d+ calls?$/m)
})

test('an honest group passes every check with the thresholds of the demo model', async () => {
  const found = await report('--calibration', join(checkout, 'models', 'demo', 'calibration-f16.json'))
  assert.equal(outcomes(found), ['ok', 'not checked', 'ok', 'ok', 'ok', 'not checked', 'ok', 'ok', 'ok'])
})

test('thresholds of another run, a missing folder and another base model give one-line errors', async () => {
  const nowhere = await prove('verify-group', '--data-dir', join(machine.folder, 'nobody'), '--model', model, '--cpu')
  assert.is(nowhere.code, 1)
  assert.match(nowhere.stderr, /^prove-node: nothing_kept: no node has worked in /)
  const tiny = join(checkout, 'test/fixtures/tiny/base.gguf')
  const other = await prove('verify-group', '--data-dir', dataDir, '--model', tiny, '--cpu')
  assert.is(other.code, 1)
  assert.match(other.stderr, /^prove-node: wrong_base: the group was generated with prove-demo-base/)
  const file = join(machine.folder, 'thresholds.json')
  await writeFile(file, '{}')
  const bad = await verify('--calibration', file)
  assert.is(bad.code, 1)
  assert.match(bad.stderr, /^prove-node: bad_calibration: /)
})

test('a changed group fails, and a seed that does not derive from the secret fails', async () => {
  const store = await openNodeStore(join(dataDir, 'store'), runId)
  const kept = (await store.keptGroup())!
  const content = groupBody.parse(kept.body)
  const [first, ...others] = content.rollouts
  const reward = { ...first!.reward, total: first!.reward.total + 0.5 }
  const body = groupBody.encode({ ...content, rollouts: [{ ...first!, reward }, ...others] })
  const { leaseId } = kept.origin.lease
  const bodySha256 = 'ab'.repeat(32)
  await store.addPending({ leaseId, bodySha256, sealed: new Uint8Array(1), body, origin: kept.origin })
  const verdict: Verdict = {
    leaseId,
    bodySha256,
    accepted: false,
    code: 'reward_mismatch',
    detail: 'rollout 0',
    credit: 0,
    receivedAtMs: Date.now(),
  }
  await store.addVerdicts(await store.verdictCount(), [verdict])
  const { round } = kept.origin
  await store.keepRounds([{ round, secret: '00'.repeat(32) }])
  await store.close()
  const found = await report()
  assert.is(found.code, 1)
  assert.equal(outcomes(found), [
    'failed',
    'not checked',
    'ok',
    'ok',
    'failed',
    'not checked',
    'not checked',
    'not checked',
    'not checked',
  ])
  assert.match(found.checks[0]!.detail, /does not fit its published hash/)
  assert.match(found.checks[4]!.detail, /^reward_mismatch: rollout 0/)
  assert.is(found.verdicts.length, 2)
  const { stdout } = await prove('verdicts', '--data-dir', dataDir)
  assert.match(
    stdout,
    new RegExp(
      `group ${leaseId.slice(0, 8)} revoked by a later audit, replaces credit \\d+: reward_mismatch - .*\\(rollout 0\\); consequence: .*exclusion`,
    ),
  )
})

test.run()
