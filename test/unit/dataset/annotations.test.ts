import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { annotationsIn } from '../../../tasks/dataset/filled-annotation-form.js'
import {
  addAnnotations,
  annotationForm,
  DatasetError,
  openDataset,
  writeDataset,
} from '../../../tasks/dataset/index.js'
import { checkFile } from '../../../tasks/dataset/manifest.js'
import { catalogue, info, makeExamples, stream } from '../../support/dataset-examples.js'

const test = suite('annotations of a data set')
const examples = makeExamples(15)
let folder = ''
let blank = ''

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-annotations-'))
  blank = await annotationForm(stream(examples), 6, 1)
})
test.after(() => rm(folder, { recursive: true, force: true }))

/** Returns a form with these verdicts, each `good` or a verdict with a reason after a dash. The last one applies to all further examples. */
function filled(...verdicts: readonly string[]): string {
  let next = 0
  return blank.replaceAll(/^verdict \(good, odd or wrong\):\nreason, if odd or wrong:$/gm, () => {
    const [verdict, reason = ''] = verdicts[Math.min(next++, verdicts.length - 1)]!.split(' - ')
    return `verdict (good, odd or wrong): ${verdict}\nreason, if odd or wrong: ${reason}`
  })
}

let count = 0
async function dataset() {
  const path = join(folder, `village-${count++}`)
  await writeDataset(path, stream(examples), info, catalogue)
  return openDataset(path, catalogue)
}

async function form(text: string): Promise<string> {
  const path = join(folder, `form-${count++}.txt`)
  await writeFile(path, text)
  return path
}

async function refusal(promise: Promise<unknown>): Promise<DatasetError> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, DatasetError)
    return error as DatasetError
  }
  throw new Error('it was not refused')
}

test('a filled annotation form is parsed with any line ends and capitals', () => {
  const text = filled('good', 'Odd - Nobody talks\n   like that.', 'wrong - It pays another card.', 'good')
  for (const form of [text, text.replaceAll('\n', '\r\n')]) {
    const found = annotationsIn(form, 'form')
    assert.equal(
      found.map(({ verdict, reason }) => [verdict, reason]),
      [
        ['good', ''],
        ['odd', 'Nobody talks like that.'],
        ['wrong', 'It pays another card.'],
        ...Array(3).fill(['good', '']),
      ],
    )
    assert.equal(new Set(found.map(({ task }) => task)).size, 6)
    assert.ok(found.every(({ task, kind }) => examples.some((one) => one.task.id === task && one.task.kind === kind)))
  }
})

test('the card shows the shares of two annotators, wrong before odd, and the manifest has the new card’s hash', async () => {
  const read = await dataset()
  const forms = [await form(filled('odd - Stilted.', 'good')), await form(filled('good', 'wrong - Untrue.', 'good'))]
  const section = await addAnnotations(read, forms, 'two people')
  const card = await readFile(join(read.folder, 'README.md'), 'utf8')
  assert.ok(card.includes(`\n${section}\n\n## Fields\n`))
  assert.match(section, /read completely by two people\./)
  assert.match(
    section,
    /\| all \| 12 \| 10: 83\.3 % \(55\.2 to 95\.3\) \| 1: 8\.3 % \(1\.5 to 35\.4\) \| 1: 8\.3 % \(1\.5 to 35\.4\) \|/,
  )
  assert.ok(section.indexOf('- wrong: Untrue.') < section.indexOf('- odd: Stilted.'))
  const { manifest } = await openDataset(read.folder, catalogue)
  await checkFile(read.folder, manifest, 'README.md')
})

test('new annotations replace earlier ones and keep the rest of the card', async () => {
  const read = await dataset()
  const path = join(read.folder, 'README.md')
  const before = await readFile(path, 'utf8')
  await addAnnotations(read, [await form(filled('odd - First.'))], 'one person')
  const section = await addAnnotations(
    await openDataset(read.folder, catalogue),
    [await form(filled('good'))],
    'another person',
  )
  const card = await readFile(path, 'utf8')
  assert.not.match(card, /one person|First\./)
  assert.is(card.replace(`\n${section}\n`, ''), before)
})

test('a wrong annotation form is rejected by name, and the card stays unchanged', async () => {
  const read = await dataset()
  const path = join(read.folder, 'README.md')
  const before = await readFile(path, 'utf8')
  const other = await annotationForm(stream(makeExamples(20).slice(15)), 1, 1)
  const cases: readonly (readonly [string, RegExp])[] = [
    ['notes', /not a form of/],
    [blank, /example 1: the verdict must be good, odd or wrong, not ""/],
    [filled('good', 'fine'), /example 2: the verdict must be .*not "fine"/],
    [filled('good', 'good', 'odd'), /example 3: the verdict is odd without a reason/],
    [other.replace('(good, odd or wrong):', '(good, odd or wrong): good'), /the form belongs to another data set/],
  ]
  for (const [text, message] of cases) {
    const { code, message: said } = await refusal(addAnnotations(read, [await form(text)], 'somebody'))
    assert.is(code, 'bad_form')
    assert.match(said, message)
  }
  assert.is((await refusal(addAnnotations(read, [join(folder, 'nowhere.txt')], 'somebody'))).code, 'missing_file')
  assert.is(await readFile(path, 'utf8'), before)
})

test.run()
