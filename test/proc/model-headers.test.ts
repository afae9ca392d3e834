import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readBase } from '../../coordinator/settings/base-facts.js'
import { readConfig } from '../../coordinator/settings/config.js'
import { longestPrompt } from '../../coordinator/settings/first-prompts.js'
import { estimateMemory, openTokenizer } from '../../rollout/engine/index.js'
import { checkTemplate, createEpisodeRuntime, rulesNamed, toolCallFormatNamed } from '../../rollout/episode/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { readHeader, writeHeader } from '../support/recorded-headers.js'
import { sampleExamples } from '../support/sample-examples.js'
import { stated } from '../support/stated.js'

/** Runs of small models, compared with the headers of the published files: what the trainer reads, and what a volunteer needs. */

const SOURCES = join(checkout, 'node_modules', 'node-llama-cpp', 'llama', 'gitRelease.bundle')
const LAPTOP_BYTES = 8 * 2 ** 30
/** Share of a machine's memory that an engine may use, see rollout/engine/memory-guard.ts. */
const USABLE = 0.75

interface Model {
  readonly name: string
  readonly parameters: number
  readonly architecture: string
  /** Chat template of the run: one of the published models that llama.cpp has, or one of this project. */
  readonly template: { readonly published: string } | { readonly own: string }
}
const MODELS: readonly Model[] = [
  { name: 'smollm2-135m', parameters: 134_515_008, architecture: 'llama', template: { own: 'compact' } },
  { name: 'qwen3-0.6b', parameters: 596_049_920, architecture: 'qwen3', template: { published: 'Qwen-Qwen3-0.6B' } },
  {
    name: 'granite-4.0-350m',
    parameters: 352_379_904,
    architecture: 'granite',
    template: { published: 'ibm-granite-granite-4.0' },
  },
]

const test = suite<{ folder: string }>('headers of published models')
test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-headers-'))
    await execa('git', ['init', '--quiet', '--bare'], { cwd: context.folder })
    await execa('git', ['fetch', '--quiet', SOURCES, 'HEAD'], { cwd: context.folder })
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

async function templateOf({ template }: Model, cwd: string): Promise<string> {
  if ('own' in template) return readFile(join(checkout, 'models', 'templates', `${template.own}.jinja`), 'utf8')
  const { stdout } = await execa('git', ['show', `FETCH_HEAD:models/templates/${template.published}.jinja`], { cwd })
  return stdout
}

for (const model of MODELS)
  test(`the run of ${model.name} fits its model and an 8 GB laptop`, async ({ folder }) => {
    const { name } = model
    const file = join(checkout, 'runs', `${name}.yaml`)
    const { base, limits, groupSize } = readConfig(file)
    const template = await templateOf(model, folder)
    const path = join(folder, `${name}.gguf`)
    writeHeader(path, readHeader(name), { template, asBase: true })
    const facts = readBase(path)
    assert.equal(
      [facts.architecture, facts.parameters, facts.quantisation],
      [model.architecture, model.parameters, base.quantisation],
    )
    assert.is(checkTemplate(template, toolCallFormatNamed(base.toolCallFormat)).note, null)
    assert.ok(limits.maxRolloutTokens <= facts.context)

    const contextSize = limits.maxRolloutTokens
    const one = await estimateMemory({ modelPath: path, contextSize, slots: 1 })
    const group = await estimateMemory({ modelPath: path, contextSize, slots: groupSize })
    const { size } = await stat(path)
    const needs = `# A volunteer downloads ${Math.round(size / 1e6)} MB and needs ${gib(one)} of memory for one rollout at a time, or ${gib(group)} for the ${groupSize} of a group.`
    assert.ok((await readFile(file, 'utf8')).includes(`${needs}\n`), needs)
    assert.ok(one <= USABLE * LAPTOP_BYTES, 'an 8 GB laptop can take part')
  })

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

test('limits of the runs fit the longest prompts of all environments', async ({ folder }) => {
  const tasks = (await sampleExamples()).map(({ task }) => task)
  for (const model of MODELS) {
    const { base, limits, reward } = readConfig(join(checkout, 'runs', `${model.name}.yaml`))
    // Its vocabulary of 2,048 entries needs more tokens than those of the models.
    const tokenizer = await openTokenizer(
      join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf'),
      await templateOf(model, folder),
    )
    try {
      const rules = rulesNamed({ toolCallFormat: base.toolCallFormat, reward })
      const longest = longestPrompt(tasks, createEpisodeRuntime(CATALOGUE.values(), tokenizer, rules))
      assert.ok(longest + 4 * limits.maxTurnTokens <= limits.maxRolloutTokens, `${model.name}: ${longest} tokens`)
    } finally {
      await tokenizer.close()
    }
  }
})

test.run()
