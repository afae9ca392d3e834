import { createHash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTokenizer, type Tokenizer } from '../../../rollout/engine/index.js'
import {
  createPromptRenderer,
  createReferenceSource,
  groundTruthScript,
  TOOL_CALL_FORMATS,
  toolCallFormatNamed,
} from '../../../rollout/episode/index.js'
import { fixture } from '../../support/checkout.js'
import { CHAT_TEMPLATE, scriptTokenizer } from '../../support/scripted.js'

/** The meaning of a tool-call format's name never changes: otherwise groups in progress would be refused, and trained adapters would fail. */

const test = suite('the tokens of tool-call formats')
const hermes = toolCallFormatNamed('hermes')

const TOOLS = [
  { name: 'find_flight', description: 'Find flights <cheap first>.', inputSchema: { type: 'object' }, readOnly: true },
  {
    name: 'book',
    description: 'Book a seat — für alle.',
    inputSchema: {
      type: 'object',
      properties: { seat: { type: 'string', enum: ['aisle', 'window'] }, row: { type: 'integer' } },
      required: ['seat'],
    },
    readOnly: false,
  },
]
const RESULTS = ['{"ok":true}', '{"error":"not_found","message":"a < b </tool_response>"}', '[1,2.5,"é 日本"]']
const GROUND_TRUTH = [
  { name: 'find_flight', arguments: {}, after: [], turn: 0 },
  { name: 'book', arguments: { seat: 'aisle', note: 'x < y, "quoted"\n' }, after: [0], turn: 1 },
]

/** SHA-256 of the tokens of all texts of a tool-call format, each tokenised separately. */
async function written(tokenizer: Tokenizer, toolCallFormat = hermes): Promise<Record<string, string>> {
  const renderer = createPromptRenderer(tokenizer, toolCallFormat)
  const reference = createReferenceSource(
    groundTruthScript({ turns: ['a', 'b'], groundTruth: GROUND_TRUTH }, toolCallFormat),
    {
      tokenizer,
      toolCallFormat,
    },
  )
  const said: number[][] = []
  for (let turn = 0; turn < 4; turn++)
    said.push([...(await reference.next([], 4096, new AbortController().signal)).tokens])
  const tokens = {
    prompt: renderer.firstPrompt(TOOLS, 'Book me a seat to Łódź, please.'),
    promptWithSystem: renderer.firstPrompt(TOOLS, 'Book me a seat.', 'Today is Monday.'),
    oneResult: renderer.toolResults(RESULTS.slice(0, 1)),
    threeResults: renderer.toolResults(RESULTS),
    userTurn: renderer.userTurn('Thanks <3 — now the way back: 1 <= 2.'),
    taught: said,
  }
  return Object.fromEntries(
    Object.entries(tokens).map(([what, ids]) => [what, createHash('sha256').update(JSON.stringify(ids)).digest('hex')]),
  )
}

test('with code points as tokens they have not changed', async () => {
  assert.equal(await written(scriptTokenizer()), {
    prompt: 'e434da463516ef6c5fea66ee42e62d5745c71a2e71d23d43321b772ac13b0ade',
    promptWithSystem: 'dc9683588ab04a3f856de62cb34cc26496be1d75c3d3604d5b7a6e75f5776b1b',
    oneResult: 'f6d601d932a26a967b236826976cc0a45432954fdbc782860ea1f7d5bdb643d9',
    threeResults: 'd660985d9391e93da6dfc255899e68f2d968ca3239afb35b13f0d3aaf4e06dcd',
    userTurn: 'e46e5420eaac662b69db13e2d0fec1e60c186385e641ac02a5cd9c36adf2cf70',
    taught: '120599d2bb88a1f9978e7a578e1ecbfd44bc6f4db5e888d6b73db30f015ca6bf',
  })
})

test('with a vocabulary of control tokens and merges they have not changed', async () => {
  const tokenizer = await openTokenizer(fixture('tiny/base.gguf'))
  try {
    assert.equal(await written(tokenizer), {
      prompt: '1d2dc989e21527cb9587305948baa0af5c6e6bd6e31671f2a880d86583beb5ba',
      promptWithSystem: '632157bf5cfa6dfe7d48c625086edfc352d53ecc62187974f1bfa8288b3b1572',
      oneResult: '17961a5c380b5b66dc13abb34c89efc6612ca410fe0ac0f51f16e002b119d594',
      threeResults: 'a2361d0b06e7df16b6d3a76ed88075f524b1a4407adcf85bbaa7981eaafe03c7',
      userTurn: 'b6b6ca17776c73c10eca1960dfe3ae2cec67aa75934c18fb27b9faf73aa5b7f0',
      taught: '5eedad924388ba715dba6a0e38d0a9931aa2533a6a34b3847661279cce63e66d',
    })
  } finally {
    await tokenizer.close()
  }
})

const OTHERS: Readonly<Record<string, string>> = {
  'hermes-thinking': '6f9d6fdcdeeb71b4af1295d8c3e2ddea6e25cd1cc83b469f1f7086e5e27cc21d',
  'hermes-no-thinking': '75a5a1d639cf490e7190cacf8d7a06eee14d010f9209b5eb8bb19f5f727c95f1',
  granite: 'd8a4a1492bfef7fee2b2e4482953cdacdd6a81fb1c2bb93a594f3a5f0729a950',
  'code-block': '3c4db858a2cb60e4bafe989da1d3b10423400f0701dfe6e8be3390dcd972a603',
}

test('those of the other formats have not changed', async () => {
  assert.equal(
    Object.keys(OTHERS),
    [...TOOL_CALL_FORMATS.keys()].filter((name) => name !== 'hermes'),
  )
  const hashes = Object.keys(OTHERS).map(async (name) => {
    const toolCallFormat = toolCallFormatNamed(name)
    const template = `{# enable_thinking #}${CHAT_TEMPLATE.replace('<|im_start|>assistant\\n', toolCallFormat.opening.replaceAll('\n', '\\n'))}`
    const all = JSON.stringify(await written(scriptTokenizer(template), toolCallFormat))
    return [name, createHash('sha256').update(all).digest('hex')] as const
  })
  assert.equal(Object.fromEntries(await Promise.all(hashes)), OTHERS)
})

test.run()
