import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openCalibrations } from '../../../coordinator/intake/calibrations.js'
import { hashFile } from '../../../rollout/engine/index.js'
import { checkout } from '../../support/checkout.js'

const test = suite<{ folder: string }>('calibrations of a run')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-calibrations-'))
})
test.after.each(({ folder }) => rm(folder, { recursive: true, force: true }))

const shipped = join(checkout, 'models', 'demo', 'calibration-f16.json')
const { subject } = JSON.parse(await readFile(shipped, 'utf8')) as {
  subject: { baseSha256: string; backend: string; nodeLlamaCpp: string; quantisation: string }
}
const ours = `${subject.backend}@${subject.nodeLlamaCpp}`
const base = { sha256: subject.baseSha256, quantisation: subject.quantisation }

test('the demo’s model has one for a CPU, which is of the shipped file', async ({ folder }) => {
  const sha256 = await hashFile(join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf'))
  const shippedBase = { sha256, quantisation: 'f16' }
  const { current } = await openCalibrations({ folder, files: [shipped], earlier: [], base: shippedBase })
  assert.equal(Object.keys(current), ['cpu@3.22.1'])
})

test('a calibration of an older run configuration remains when run.yaml names another, or its file is gone', async ({
  folder,
}) => {
  const file = join(folder, 'mine.json')
  const copies = join(folder, 'kept')
  await writeFile(file, await readFile(shipped))
  const first = await openCalibrations({ folder: copies, files: [file], earlier: [], base })
  const [sha256] = Object.values(first.current)
  assert.equal(Object.keys(first.current), [ours])

  await writeFile(file, `${await readFile(shipped, 'utf8')}\n`)
  const second = await openCalibrations({ folder: copies, files: [file], earlier: [sha256!], base })
  assert.is.not(second.current[ours], sha256)
  assert.equal(second.bySha256.get(sha256!), first.bySha256.get(sha256!))
  assert.is((await readdir(copies)).length, 2)

  await rm(file)
  const third = await openCalibrations({ folder: copies, files: [], earlier: [sha256!], base })
  assert.equal([third.current, third.bySha256.size], [{}, 1])
})

test('a copy that is gone or changed, and a file of another base, are refused by name', async ({ folder }) => {
  const copies = join(folder, 'kept')
  const { current } = await openCalibrations({ folder: copies, files: [shipped], earlier: [], base })
  const [sha256] = Object.values(current)
  const copy = join(copies, `${sha256}.json`)
  await writeFile(copy, `${await readFile(copy, 'utf8')} `)
  const again = () => openCalibrations({ folder: copies, files: [], earlier: [sha256!], base }).catch((error) => error)
  assert.match(
    (await again()).message,
    new RegExp(`calibration_lost: .*${sha256}\\.json.*it is damaged.*restore a backup`),
  )
  await rm(copy)
  assert.match((await again()).message, new RegExp(`calibration_lost: .*${sha256}\\.json: ENOENT`))
  const other = { ...base, quantisation: 'q4_0' }
  const refused = await openCalibrations({ folder: copies, files: [shipped], earlier: [], base: other }).catch((e) => e)
  assert.match(refused.message, /it is for f16, but the run uses q4_0/)
})

test.run()
