import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EngineError, openForeignTokenizer } from '../../rollout/engine/index.js'
import { toolCallFormatNamed } from '../../rollout/episode/index.js'
import { openPolicy } from '../../rollout/inference/policy.js'
import { patience } from '../support/patience.js'
import { demoModel } from '../support/programs.js'

/** Model files of strangers, on which llama.cpp aborts its process. */

const test = suite<{ folder: string; path: string }>('models of strangers')
test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-foreign-'))
  context.path = join(context.folder, 'twice.gguf')
  await writeFile(context.path, withEqualTokens(await readFile(demoModel())))
})
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const TOKENS = 'tokenizer.ggml.tokens'

/** Gives tokens of the same length the same text: llama.cpp asserts that there are as many texts as tokens. */
function withEqualTokens(model: Buffer): Buffer {
  // The key is followed by the types of array and element, the count, and each token with its length.
  let at = model.indexOf(TOKENS) + TOKENS.length + 4 + 4 + 8
  for (let i = 0; i < 300; i++) {
    const length = Number(model.readBigUInt64LE(at))
    model.fill('a', at + 8, at + 8 + length)
    at += 8 + length
  }
  return model
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const why = await work.catch((error: unknown) => error)
  assert.instance(why, EngineError)
  return (why as EngineError).code
}

test('a tokenizer that would abort the process is an error', async ({ path }) => {
  assert.is(await codeOf(openForeignTokenizer(path)), 'engine_crashed')
})

test('so is a policy over such a file', async ({ path }) => {
  const options = { name: 'a stranger’s', modelPath: path, adapter: null, contextSize: 256, slots: 1, threads: 1 }
  const toolCallFormat = toolCallFormatNamed('hermes')
  assert.is(await codeOf(openPolicy({ ...options, toolCallFormat, gpu: false }, patience())), 'engine_crashed')
})

test('the tokenizer of an intact file is opened', async () => {
  const tokenizer = await openForeignTokenizer(demoModel())
  assert.is(tokenizer.vocabularySize, 2048)
  await tokenizer.close()
})

test.run()
