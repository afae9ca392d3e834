import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from '@huggingface/jinja'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Token } from '../../rollout/engine/index.js'
import {
  checkTemplate,
  createPromptRenderer,
  EpisodeError,
  TOOL_CALL_FORMATS,
  type ToolCallFormat,
  toolCallFormatNamed,
} from '../../rollout/episode/index.js'
import type { JsonObject } from '../../rollout/reward/index.js'
import { checkout } from '../support/checkout.js'
import { scriptTokenizer } from '../support/scripted.js'
import { stated } from '../support/stated.js'

/**
 * A whole conversation as a renderer writes it, piece after piece, beside what the model's published chat template writes of the same
 * messages at once. The templates are those that llama.cpp tests by; its sources come with node-llama-cpp.
 */

const SOURCES = join(checkout, 'node_modules', 'node-llama-cpp', 'llama', 'gitRelease.bundle')
const SILENCE = '<think>\n\n</think>\n\n'

const test = suite<{ folder: string }>('published chat templates')
test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-templates-'))
    const cwd = context.folder
    await execa('git', ['init', '--quiet', '--bare'], { cwd })
    await execa('git', ['fetch', '--quiet', SOURCES, 'HEAD'], { cwd })
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

async function template(cwd: string, name: string): Promise<string> {
  const { stdout } = await execa('git', ['show', `FETCH_HEAD:models/templates/${name}.jinja`], { cwd })
  return stdout
}

const TOOLS = [
  { name: 'find_flight', description: 'Find flights.', inputSchema: { type: 'object' }, readOnly: true },
  {
    name: 'book',
    description: 'Book a seat — für alle.',
    inputSchema: { type: 'object', properties: { row: { type: 'integer' } }, required: ['row'] },
    readOnly: false,
  },
]
const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['find_flight', {}],
  ['book', { row: 7, note: 'x "quoted"\n', tags: ['a', null, 2.5, true], by: { name: 'Łukasz' } }],
]
const RESULTS = ['{"flights": [1, 2]}', '[]']
const [SYSTEM, FIRST, SAID, LATER] = ['Today is Monday.', 'Book me a seat.', 'Booked.', 'And the way back?']

/** The messages as templates take them. @param calls  what the assistant has written, or calls that the template is to write */
const messages = (calls: object, system: boolean): object[] => [
  ...(system ? [{ role: 'system', content: SYSTEM }] : []),
  { role: 'user', content: FIRST },
  { role: 'assistant', ...calls },
  ...RESULTS.map((content) => ({ role: 'tool', content })),
  { role: 'assistant', content: SAID },
  { role: 'user', content: LATER },
]
const tools = TOOLS.map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
}))

function ours(source: string, toolCallFormat: ToolCallFormat, system: boolean): Token[] {
  const renderer = createPromptRenderer(scriptTokenizer(source), toolCallFormat)
  const calls = CALLS.map(([name, args]) => toolCallFormat.writeCall(name, args)).join('\n')
  return [
    ...renderer.firstPrompt(TOOLS, FIRST, system ? SYSTEM : undefined),
    ...renderer.assistantTurn(calls),
    ...renderer.toolResults(RESULTS),
    ...renderer.assistantTurn(SAID),
    ...renderer.userTurn(LATER),
  ]
}

const { tokenize, detokenize } = scriptTokenizer()

for (const system of [false, true]) {
  const whose = system ? 'with a system message' : 'without a system message'

  for (const version of ['4.0', '4.1'])
    test(`granite ${version} ${whose}: every token is the template's, calls included`, async ({ folder }) => {
      const source = await template(folder, `ibm-granite-granite-${version}`)
      const made = CALLS.map(([name, args]) => ({ type: 'function', function: { name, arguments: args } }))
      const asked = {
        messages: messages({ content: '', tool_calls: made }, system),
        tools,
        add_generation_prompt: true,
      }
      assert.equal(
        ours(source, toolCallFormatNamed('granite'), system),
        tokenize(new Template(source).render(asked), true),
      )
    })

  for (const [name, toolCallFormats] of [
    ['Qwen-Qwen2.5-7B-Instruct', ['hermes']],
    ['Qwen-Qwen3-0.6B', ['hermes', 'hermes-thinking', 'hermes-no-thinking']],
  ] as const)
    for (const toolCallFormat of toolCallFormats.map(toolCallFormatNamed))
      test(`${name} in ${toolCallFormat.name} ${whose}: every token is the template's`, async ({ folder }) => {
        const source = await template(folder, name)
        const content = CALLS.map(([called, args]) => toolCallFormat.writeCall(called, args)).join('\n')
        const { thinking } = toolCallFormat
        const asked = {
          ...{ messages: messages({ content }, system), tools, add_generation_prompt: true },
          ...(thinking === null ? {} : { enable_thinking: thinking === 'on' }),
        }
        const theirs = new Template(source).render(asked)
        const text = detokenize(ours(source, toolCallFormat, system))
        if (thinking === 'off') {
          assert.is(text.split(SILENCE).length - 1, 3, 'each turn of the assistant opens with silence')
          assert.is(`${text.replaceAll(SILENCE, '')}${SILENCE}`, theirs, 'the template forgets that of earlier turns')
        } else assert.is(text, theirs)
      })
}

test('a template of another model, and one without a switch for thinking, are refused with the reason', async ({
  folder,
}) => {
  const qwen = await template(folder, 'Qwen-Qwen2.5-7B-Instruct')
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['granite', /prompts end with .*those of the tool-call format granite with "<\|start_of_role\|>assistant/],
    ['hermes-thinking', /no enable_thinking, which/],
    ['hermes-no-thinking', /no enable_thinking, which/],
  ]
  for (const [toolCallFormat, words] of refusals)
    assert.throws(
      () => ours(qwen, toolCallFormatNamed(toolCallFormat), false),
      (error: unknown) => error instanceof EpisodeError && error.code === 'bad_template' && words.test(error.message),
    )
})

/** Formats in which each published template writes a call that is read back, and names all tools. */
const FITTING: Readonly<Record<string, readonly string[]>> = {
  'Bielik-11B-v3.0-Instruct': ['hermes'],
  'MiMo-VL': ['hermes'],
  'Qwen-Qwen2.5-7B-Instruct': ['hermes'],
  'Qwen-Qwen3-0.6B': ['hermes', 'hermes-thinking', 'hermes-no-thinking'],
  'ibm-granite-granite-4.0': ['granite'],
  'ibm-granite-granite-4.1': ['granite'],
}
/** Reasons for templates whose prompts end as a format's do. */
const REASONS: readonly (readonly [name: string, format: string, words: RegExp])[] = [
  ['HuggingFaceTB-SmolLM3-3B', 'hermes', /prompts do not name the tool/],
  ['LFM2-8B-A1B', 'hermes', /does not write calls of tools/],
  ['LFM2.5-Instruct', 'hermes', /does not write calls of tools/],
  ['LFM2.5-8B-A1B', 'hermes', /writes a call as .*<\|tool_call_start\|>/],
  ['Qwen3-Coder', 'hermes', /writes a call as .*<function=/],
  ['Qwen3.5-4B', 'hermes-no-thinking', /writes a call as .*<function=/],
  ['openbmb-MiniCPM5-1B', 'hermes', /cannot be rendered/],
  ['ibm-granite-granite-3.3-2B-Instruct', 'granite', /does not write calls of tools/],
]

test('of all published templates, those fit whose calls are read back and whose prompts name every tool', async ({
  folder,
}) => {
  const { stdout } = await execa('git', ['ls-tree', '--name-only', 'FETCH_HEAD', 'models/templates/'], { cwd: folder })
  const names = [...stdout.matchAll(/models\/templates\/(.*)\.jinja/g)].map((match) => match[1]!)
  assert.ok(names.length >= 70)
  const fitting: Record<string, string[]> = {}
  for (const name of names) {
    const source = await template(folder, name)
    for (const format of TOOL_CALL_FORMATS.values()) {
      try {
        checkTemplate(source, format)
        fitting[name] = [...(fitting[name] ?? []), format.name]
      } catch (error) {
        assert.ok(error instanceof EpisodeError && error.code === 'bad_template' && error.detail.length > 20, name)
      }
    }
  }
  assert.equal(fitting, FITTING)
})

for (const [name, format, words] of REASONS)
  test(`${name} is refused as ${format} with the reason`, async ({ folder }) => {
    const source = await template(folder, name)
    assert.throws(
      () => checkTemplate(source, toolCallFormatNamed(format)),
      (error: unknown) => error instanceof EpisodeError && words.test(error.detail),
    )
  })

test('a template whose results look different fits, with a note', async ({ folder }) => {
  const { note } = checkTemplate(await template(folder, 'Bielik-11B-v3.0-Instruct'), toolCallFormatNamed('hermes'))
  assert.match(note!, /writes a result as .*<\|function_output\|>/)
})

test.run()
