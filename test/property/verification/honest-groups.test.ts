import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { groupBodyOf } from '../../../node/delivery/group-body.js'
import { type GroupBody, groupBody, type Lease, LIMITS } from '../../../proto/index.js'
import { openTokenizer } from '../../../rollout/engine/index.js'
import type { Token, Tokenizer, TokenSource } from '../../../rollout/engine/types.js'
import {
  type EpisodeLimits,
  type EpisodeRules,
  type EpisodeRuntime,
  nameTask,
  runGroup,
  type Task,
} from '../../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { largestBody, recordCall, verifyGroupBody } from '../../../rollout/verification/index.js'
import { createSeedStateCache, defineEnvironment, type Environment, toolMaker } from '../../../servers/kernel/index.js'
import { DEMO_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../../tasks/synthesis/index.js'
import { checkout } from '../../support/checkout.js'
import { DEMO_ENVIRONMENTS } from '../../support/demo-tasks.js'
import { library } from '../../support/library-environment.js'
import { bodyOf, lendingTask, play, runtimeOf, scriptTokenizer, writeCall } from '../../support/scripted.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

/** A policy that writes pieces chosen by the numbers: text, valid and malformed tool calls, single tokens. */
function wildPolicy(
  pieces: readonly (readonly Token[])[],
  { isEndOfGeneration }: Pick<Tokenizer, 'isEndOfGeneration'>,
  choices: () => number,
): TokenSource {
  return {
    async next(_feed, maxTokens) {
      const tokens: Token[] = []
      let stop: 'end' | 'length' = 'length'
      while (tokens.length < maxTokens && stop === 'length') {
        for (const token of pieces[choices() % pieces.length]!) {
          if (tokens.length === maxTokens || stop === 'end') break
          tokens.push(token)
          if (isEndOfGeneration(token)) stop = 'end'
        }
      }
      return { tokens, logprobs: tokens.map((token) => -(token % 64) / 64), stop }
    },
    async close() {},
  }
}

const tables = { notes: { row: z.object({ note: z.string() }), key: 'note' } }
const tool = toolMaker(tables, { torn: 'The paper is torn.' })
/** An environment with answers of any length and character width, one of whose tools fails. */
const chatterbox: Environment = defineEnvironment({
  name: 'chatterbox',
  title: 'Chatterbox',
  description: 'Says too much.',
  tables,
  entities: {},
  failures: { torn: 'The paper is torn.' },
  tools: [
    tool({
      name: 'talk',
      description: 'Say something many times.',
      input: z.strictObject({ times: z.int().min(0).max(20_000), what: z.string().optional() }),
      output: z.object({ said: z.string() }),
      annotations: { readOnly: true },
      sample: () => ({ times: 3 }),
      run: ({ times, what = 'é\ud800"' }) => ({ said: what.repeat(times) }),
    }),
    tool({
      name: 'tear',
      description: 'Tear the paper.',
      input: z.strictObject({ why: z.array(z.string().min(1)).optional() }),
      output: z.object({}),
      annotations: { readOnly: false },
      sample: () => ({}),
      run: (_, { fail }) => fail('torn', '\udc00'.repeat(70_000)),
    }),
  ],
  invariants: [],
  seed: () => ({ notes: [{ note: 'one' }] }),
})

const runtime = runtimeOf([library, chatterbox])
const task: Task = nameTask({
  kind: 'multi-turn',
  environments: [
    { environment: 'library', seed: 1 },
    { environment: 'chatterbox', seed: 2 },
  ],
  toolset: [
    ...['list_books', 'lend_book', 'return_book'].map((name) => ({ environment: 'library', tool: name })),
    ...['talk', 'tear'].map((name) => ({ environment: 'chatterbox', tool: name })),
  ],
  turns: ['Please lend emma to Ada.', 'Talk.'],
  groundTruth: [{ name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' }, after: [], turn: 0 }],
  chain: 'library:lend_book',
})

const call = (inside: string): string => `<tool_call>${inside}</tool_call>`
const named = (name: string, args: string): string => call(`{"name":"${name}","arguments":${args}}`)
const WORDS = [
  ...['<tool_call>', '</tool_call>', '{"name":', '"arguments":{', '}', 'No.', '\\ud800', '\udfff', '\u0000', '"', 'é'],
  named('lend_book', '{"book":"emma","reader":"Ada"}'),
  named('lend_book', '{"book":"emma","reader":"\\ud83d","weeks":-0}'),
  named('lend_book', '{"book":"emma","reader":"Bo","__proto__":{"a":1}}'),
  named('lend_book\\ud800', '{}'),
  named('list_books', '{"shelf":1e400}'),
  named('list_books', `{"shelf":"${'x'.repeat(900)}"}`),
  named('talk', '{"times":8000}'),
  named('talk', '{"times":700,"what":"<tool_response>"}'),
  named('talk', '{"times":100,"what":"\\ud83d\\ude00"}'),
  named('tear', '{}'),
  named('tear', `{"why":[${'"",'.repeat(400)}""]}`),
  named('p'.repeat(129), '{}'),
  call(`{"name":"tear","arguments":${'{"a":'.repeat(200)}{}${'}'.repeat(200)}}`),
  call(`${'["\ud800",'.repeat(300)}`),
]

const leaseOf = ({ id }: Task): Lease => ({
  leaseId: 'a1'.repeat(16),
  index: 0,
  policyId: 'b2'.repeat(32),
  version: 0,
  taskId: id,
  task: new Uint8Array(),
  seed: '5e'.repeat(32),
  deadlineMs: 1e13,
  groupSize: 3,
  configurationId: '0'.repeat(64),
})
const { signal } = new AbortController()

/** Plays a group like a node, encodes it, and verifies the decoded group like the coordinator. */
async function carry(
  task: Task,
  { node, coordinator }: { readonly node: EpisodeRuntime; readonly coordinator: EpisodeRuntime },
  limits: EpisodeLimits,
  policy: () => TokenSource,
): Promise<void> {
  const lease = leaseOf(task)
  const engine = { openSlots: async (requests: readonly unknown[]) => requests.map(policy) }
  const rollouts = await runGroup(task, lease.groupSize, Buffer.from(lease.seed, 'hex'), engine, node, limits, signal)
  const bytes = groupBody.encode(groupBodyOf(lease, rollouts, { nodeLlamaCpp: 'n'.repeat(100), backend: 'cpu' }, 1))
  assert.ok(bytes.length <= largestBody(lease.groupSize, limits), `${bytes.length} B`)
  assert.equal(await verifyGroupBody(groupBody.parse(bytes), { ...lease, task, limits }, coordinator, signal), rollouts)
}

const anyReward = fc
  .constantFrom(...REWARD_PRESETS.values())
  .map((reward) => ({ toolCallFormat: runtime.toolCallFormat, reward }))
const runtimeWith = (rules: EpisodeRules): EpisodeRuntime => runtimeOf([library, chatterbox], undefined, rules)

const anyLimits = fc.record({
  maxTurnTokens: fc.integer({ min: 1, max: 3000 }),
  maxRolloutTokens: fc.integer({ min: 1000, max: 30_000 }),
  maxAssistantTurns: fc.integer({ min: 1, max: 12 }),
  maxCalls: fc.integer({ min: 1, max: 24 }),
})

test('for any text of the policy and the environment, the group fits its body and passes verification', async () => {
  const tokenizer = scriptTokenizer()
  const words = [...WORDS, ...new Array<string>(6).fill('<|im_end|>')]
  const pieces = words.map((word) => tokenizer.tokenize(word, true))
  await fc.assert(
    fc.asyncProperty(anyLimits, anyReward, fc.infiniteStream(fc.nat(1000)), async (limits, rules, choices) => {
      const runtimes = { node: runtimeWith(rules), coordinator: runtimeWith(rules) }
      await carry(task, runtimes, limits, () => wildPolicy(pieces, tokenizer, () => choices.next().value as number))
    }),
    { seed: 1101, numRuns: 30 },
  )
})

test('any tokens of a real vocabulary, in any order, make groups that pass verification', async () => {
  const model = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
  const [tokenizer, other] = [await openTokenizer(model), await openTokenizer(model)]
  try {
    const environments = DEMO_ENVIRONMENTS.map((name) => CATALOGUE.get(name)!)
    const context = contextFor(environments, DEMO_PROFILE, 1, createSeedStateCache())
    const tasks = [...streamExamples(context, 'train', 6)].map((example) => example.task)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...tasks),
        anyLimits,
        anyReward,
        fc.infiniteStream(fc.nat()),
        async (one, limits, rules, numbers) => {
          const runtimes = {
            node: runtimeOf(environments, tokenizer, rules),
            coordinator: runtimeOf(environments, other, rules),
          }
          const calls = one.groundTruth.map((truth) => writeCall(truth.name, truth.arguments))
          const pieces = [
            ...calls,
            ...calls,
            '<|im_end|>',
            '<|im_end|>',
            '<tool_call>',
            '</tool_call>',
            '{"name": "',
            '\\ud83d',
            '"}}',
          ].map((text) => tokenizer.tokenize(text, true))
          // Half of the pieces are single tokens of any kind: pieces of characters, control tokens, the tags.
          const random = pieces.map(() => [(numbers.next().value as number) % tokenizer.vocabularySize])
          const choices = () => numbers.next().value as number
          await carry(one, runtimes, limits, () => wildPolicy([...pieces, ...random], tokenizer, choices))
        },
      ),
      { seed: 1102, numRuns: 30 },
    )
  } finally {
    await tokenizer.close()
    await other.close()
  }
})

const longest = (letter: string): string => letter.repeat(200_000)
for (const [what, text] of [
  ['ASCII', longest('x')],
  ['wide characters', longest('é')],
  ['pairs', longest('😀')],
  ['halves of pairs', longest('\ud83d')],
] as const) {
  test(`a call whose texts are ${what} without end is carried, and two that differ only near the end are distinguished`, async () => {
    const rollout = await play(lendingTask(), ['No.', 'No.'], runtimeOf())
    const bodyWith = (response: string): GroupBody => {
      const calls = [
        { malformed: true as const, raw: text },
        { name: 'é'.repeat(64), arguments: { text }, ok: true },
      ]
      const wild = { ...rollout, calls, responses: [response, text] }
      return groupBody.parse(groupBody.encode(bodyOf(lendingTask(), [wild, wild])))
    }
    const [first] = bodyWith(text).rollouts
    for (const { raw, argumentsJson, resultJson } of first!.calls)
      for (const carried of [raw, argumentsJson, resultJson])
        assert.ok(
          carried === '' ||
            carried.startsWith(String.fromCodePoint(text.codePointAt(0)!).toWellFormed()) ||
            carried.startsWith('{"text"'),
        )
    assert.is.not(bodyWith(`${text}.`).rollouts[0]!.calls[0]!.resultJson, first!.calls[0]!.resultJson)
  })
}

test('the largest group that limits allow fits the largest body, and fills most of it', () => {
  const limits: EpisodeLimits = { maxTurnTokens: 500, maxRolloutTokens: 4000, maxAssistantTurns: 12, maxCalls: 24 }
  const wide = 'é'.repeat(LIMITS.callTextBytes.value)
  const { tokenId, nameBytes } = LIMITS
  const turns = limits.maxAssistantTurns
  const sampled = limits.maxRolloutTokens - turns
  const rollout = {
    tokens: new Array<number>(limits.maxRolloutTokens).fill(tokenId.value),
    maskRuns: Array.from({ length: 2 * turns }, (_, i) =>
      i % 2 === 0 ? 1 : i === 1 ? sampled - (turns - 1) * 300 : 300,
    ),
    logprobs: new Array<number>(sampled).fill(-1.1),
    calls: new Array(limits.maxCalls).fill(
      recordCall({ name: 'n'.repeat(nameBytes.value), arguments: { wide }, ok: true }, wide),
    ),
    reward: {
      total: -5.123456789,
      components: ['validity', 'coverage', 'efficiency', 'name', 'arg'].map((name) => ({ name, value: 0.1 })),
    },
    stateHash: 'ab'.repeat(32),
    endReason: 'rollout_length',
  }
  for (const groupSize of [2, 16, 64]) {
    const size = groupBody.encode({
      ...bodyOf(lendingTask(), []),
      rollouts: new Array<typeof rollout>(groupSize).fill(rollout),
    }).length
    const largest = largestBody(groupSize, limits)
    assert.ok(size <= largest && size > 0.95 * largest, `${size} of ${largest} B`)
  }
})

test.run()
