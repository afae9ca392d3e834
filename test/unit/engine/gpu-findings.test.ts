import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EngineReport } from '../../gpu-check/engines.js'
import { engineFindings, type Finding, trainerFindings } from '../../gpu-check/findings.js'
import { lavapipeEnvironment } from '../../gpu-check/lavapipe.js'

const report = (changed: Partial<EngineReport> = {}): EngineReport => ({
  build: { nodeLlamaCpp: '3.22.1', backend: 'vulkan-part-flash' },
  placement: {
    ...{ device: 'vulkan', deviceNames: ['Radeon'], layers: 5, allLayers: 7, flashAttention: true, cacheType: 'f16' },
    ...{ slots: 8, contextSize: 640, mainBytes: 1, gpuBytes: 1 },
  },
  logprobs: [-1, -2, -3, -4],
  missedDraws: 0,
  repeats: true,
  speeds: [{ slots: 1, speed: { promptPerSecond: 10, sampledPerSecond: 20 } }],
  ...changed,
})

const failing = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ holds }) => holds === false).map(({ what }) => what)

test('a GPU that says what the CPU says, and says it again, agrees', () => {
  const findings = engineFindings(report(), report({ logprobs: [-1.001, -2, -3, -4] }))
  assert.equal(failing(findings), [])
  assert.is(findings.filter(({ holds }) => holds).length, 2)
})

test('one that is off on average, on one token, or by numbers that are none, differs', () => {
  for (const logprobs of [
    [-1.03, -2.03, -3.03, -4.03],
    [-1, -2, -3, -4.31],
    [-1, -2, -3, Number.NaN],
  ])
    assert.equal(failing(engineFindings(report(), report({ logprobs }))), [
      "log-probabilities compared with the CPU's, 4 tokens",
    ])
})

test('one that samples other tokens from the same seeds differs', () => {
  assert.equal(failing(engineFindings(report(), report({ repeats: false }))), ['the same seeds, twice'])
})

test('a gradient beyond its bound differs, in whichever precision', () => {
  const trained = (float32: number, bfloat16: number) => ({
    ...{ device: 'H100', torch: '2.13', cpuSeconds: 2 },
    steps: [
      { precision: 'float32', distance: float32, bound: 1e-3, seconds: 1 },
      { precision: 'bfloat16', distance: bfloat16, bound: 0.2, seconds: 1 },
    ],
  })
  assert.equal(failing(trainerFindings(trained(1e-3, 0.2))), [])
  assert.is(failing(trainerFindings(trained(1.1e-3, 0.2))).length, 1)
  assert.is(failing(trainerFindings(trained(1e-3, 0.3))).length, 1)
})

test('a driver that the user names precedes the system’s, and hides all other devices', () => {
  const env = lavapipeEnvironment({ VK_ICD_FILENAMES: '/opt/mesa/lvp_icd.json' })
  assert.is(env?.VK_DRIVER_FILES, '/opt/mesa/lvp_icd.json')
  assert.is(env?.CUDA_VISIBLE_DEVICES, '')
})

test.run()
