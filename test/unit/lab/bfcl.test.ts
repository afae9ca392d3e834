import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodedError } from '../../../common/errors/index.js'
import { allCases, answersTo, generate, readAnswers, readScore } from '../../../lab/bfcl/bfcl-eval.js'
import { chooseCases } from '../../../lab/bfcl/choose-cases.js'
import { type BfclSummary, renderBfcl } from '../../../lab/bfcl/report.js'
import { patience } from '../../support/patience.js'
import { stated } from '../../support/stated.js'

const test = suite<{ folder: string }>('BFCL')

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-bfcl-'))
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true }))

const lines = (...entries: readonly unknown[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

async function written(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}

const refusal = (work: Promise<unknown>): Promise<CodedError> =>
  work.then(
    () => assert.unreachable() as never,
    (error: CodedError) => error,
  )

const ids = Array.from({ length: 400 }, (_, i) => `simple_python_${i}`)

test('a seed chooses the cases, in the order of the category, and more cases include those of fewer', () => {
  const chosen = chooseCases(ids, 20, 7)
  assert.is(chosen.length, 20)
  assert.equal(chosen, chooseCases([...ids].reverse(), 20, 7).reverse())
  assert.equal(
    chosen,
    ids.filter((id) => chosen.includes(id)),
  )
  const more = new Set(chooseCases(ids, 40, 7))
  assert.ok(chosen.every((id) => more.has(id)))
  assert.not.equal(chosen, chooseCases(ids, 20, 8))
  assert.equal([chooseCases(ids, undefined, 7), chooseCases(ids, 400, 7), chooseCases(ids, 1000, 7)], [ids, ids, ids])
})

test('damaged lines and unanswered cases are repeated, errors of the model are kept', async ({ folder }) => {
  const entry = { result: [{ area: '{"base":10}' }], latency: 1 }
  const failed = (message: string) => ({ result: `Error during inference: ${message}`, traceback: '' })
  const text = [
    lines({ id: 'simple_python_0', ...entry }),
    lines({ id: 'simple_python_1', ...failed('Connection error.') }),
    lines({ id: 'simple_python_2', ...failed('Request timed out.') }),
    lines({ id: 'simple_python_3', ...failed("Error code: 500 - {'error': {}}") }),
    lines({ id: 'simple_python_4', ...failed("Error code: 400 - {'error': {'code': 'context_length_exceeded'}}") }),
    lines({ id: 5, ...entry }, 'text', null),
    '{"id": "simple_python_6", "result": [{"ar',
  ].join('')
  const result = join('result', 'openbmb_MiniCPM-SALA-FC', 'non_live', 'BFCL_v4_simple_python_result.json')
  const path = await written(join(folder, 'own', result), text)
  const answers = await answersTo({ folder: join(folder, 'own') }, 'simple_python', ids.slice(0, 7))
  assert.equal(
    answers.map(({ id, error }) => [id, error?.slice(0, 15) ?? null]),
    [
      ['simple_python_0', null],
      ['simple_python_4', 'Error code: 400'],
    ],
  )
  // `false` takes the place of Python: it fails after the file was prepared for BFCL.
  const bfcl = { python: 'false', folder: join(folder, 'own') }
  const asked = { url: 'http://127.0.0.1:9/v1', stallMs: 1e9, onAnswer: () => undefined }
  const error = await refusal(generate(bfcl, new Map([['simple_python', ids.slice(0, 7)]]), asked, patience()))
  assert.is(error.code, 'bfcl_failed')
  assert.match(error.message, /bfcl generate ended with status 1/)
  assert.equal([...(await readAnswers(path)).keys()], ['simple_python_0', 'simple_python_4'])
  assert.equal(JSON.parse(await readFile(join(folder, 'own', 'test_case_ids_to_generate.json'), 'utf8')), {
    simple_python: ids.slice(0, 7),
  })
})

test('a score file is read, and one that does not fit is refused', async ({ folder }) => {
  const head = { accuracy: 0.5, correct_count: 1, total_count: 2 }
  const wrong = { id: 'multiple_3', valid: false, error: ['x'] }
  const path = join(folder, 'score.json')
  await writeFile(path, lines(head, wrong))
  assert.equal(await readScore(path), { cases: 2, wrong: new Set(['multiple_3']) })
  const broken = {
    'is empty': '',
    'correct_count: Invalid input': lines({ total_count: 2 }),
    '1 of 2 cases are right, but 0 are listed as wrong': lines(head),
    'valid: Invalid input': lines(head, { ...wrong, valid: true }),
    'a line: Invalid input': `${lines(head)}{"id": "mul`,
  }
  for (const [message, text] of Object.entries(broken)) {
    await writeFile(path, text)
    const error = await refusal(readScore(path))
    assert.is(error.code, 'bad_file')
    assert.ok(error.message.includes(message), error.message)
  }
})

test('the cases of a category are read from the installed package', async ({ folder }) => {
  const data = join(folder, 'lib', 'python3.11', 'site-packages', 'bfcl_eval', 'data')
  await written(join(data, 'BFCL_v4_multiple.json'), lines({ id: 'multiple_0', question: [] }, { id: 'multiple_1' }))
  const installed = { python: join(folder, 'bin', 'python') }
  assert.equal(await allCases(installed, 'multiple'), ['multiple_0', 'multiple_1'])
  await written(join(data, 'BFCL_v4_parallel.json'), lines({ question: [] }))
  assert.is((await refusal(allCases(installed, 'parallel'))).code, 'bad_file')
})

test('a report names versions, settings and numbers of cases, and compares the same cases', () => {
  const right = ids.slice(0, 5)
  const category = { category: 'simple_python', cases: 20, right, errors: 0 }
  const summary: BfclSummary = {
    ...{ package: 'bfcl-eval', version: '2026.3.23', entry: 'some/model-FC', all: { simple_python: 400 } },
    settings: { seed: 3, context: 4096, maxTokens: 256, toolCallFormat: 'hermes', temperature: 0 },
    policies: [
      { label: 'base', sha256: 'a', categories: [category] },
      { label: 'warm', sha256: 'b', categories: [{ ...category, right: ids.slice(1, 13), errors: 2 }] },
    ],
  }
  assert.is(
    renderBfcl(summary),
    [
      'bfcl-eval 2026.3.23, model entry some/model-FC, temperature 0, context 4096 tokens, at most 256 tokens an answer, format hermes',
      '',
      '| category | cases | base | warm | warm, points |',
      '| --- | ---: | ---: | ---: | ---: |',
      '| simple_python | 20 of 400 | 5 (25.0 %) | 12 (60.0 %) | +35.0 ± 12.8 |',
      '',
      'warm, simple_python: an error ended 2 cases early',
      '',
      'Subsets by seed 3: not comparable with scores of whole categories.',
    ].join('\n'),
  )
})

test.run()
