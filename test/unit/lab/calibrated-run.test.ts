import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { calibratedRun, NotNamed } from '../../../lab/calibrated-run.js'
import { spanOf } from '../../../lab/progress.js'

test('a calibration takes model, tasks, tool-call format and audit settings from its run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-calibrated-'))
  const config = join(folder, 'run.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      dataDir: 'data',
      base: { path: 'base.gguf', name: 'a granite', quantisation: 'q8_0', toolCallFormat: 'granite' },
      tasks: { dataset: 'tasks' },
      groupSize: 16,
      cacheType: 'q8_0',
      audit: { processes: 2 },
      trainer: { settings: { device: 'cuda', precision: 'float16', maxTokensPerForward: 0, optimizer: { lr: 1 } } },
    }),
  )
  try {
    assert.equal(calibratedRun({ config }), {
      modelPath: join(folder, 'base.gguf'),
      dataset: [join(folder, 'tasks')],
      ...{
        toolCallFormat: 'granite',
        quantisation: 'q8_0',
        cacheType: 'q8_0',
        groupSize: 16,
        processes: 2,
        python: undefined,
      },
      auditing: { device: 'cuda', precision: 'float16', maxTokensPerForward: 0 },
    })
    const { modelPath, groupSize, toolCallFormat } = calibratedRun({ config, model: '/other.gguf', groupSize: 4 })
    assert.equal([modelPath, groupSize, toolCallFormat], ['/other.gguf', 4, 'granite'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('without a run a calibration needs a model and tasks, and has defaults for the rest', () => {
  const { toolCallFormat, quantisation, cacheType, groupSize, processes, auditing } = calibratedRun({
    model: 'a.gguf',
    dataset: 'tasks',
  })
  assert.equal(
    [toolCallFormat, quantisation, cacheType, groupSize, processes, auditing],
    ['hermes', 'f16', 'f16', 8, 1, {}],
  )
  for (const options of [{}, { model: 'a.gguf' }, { dataset: 'tasks' }])
    assert.throws(
      () => calibratedRun(options),
      (error: unknown) => error instanceof NotNamed,
    )
})

test('a duration is printed in a suitable unit', () => {
  assert.equal([spanOf(0), spanOf(119_000), spanOf(119_001), spanOf(3_600_000)], ['0 s', '119 s', '2 min', '60 min'])
  assert.equal([spanOf(7_200_000), spanOf(12_000_000)], ['2 h 0 min', '3 h 20 min'])
})

test.run()
