import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  EpisodeError,
  promptOf,
  rulesNamed,
  statedTurns,
  toolsetOf,
  wordsOfStated,
} from '../../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { openEpisode } from '../../../servers/episodes/play.js'
import { calling, saying } from '../../support/episodes.js'
import { library } from '../../support/library-environment.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  play,
  runtimeOf,
  scriptTokenizer,
  writeCall,
} from '../../support/scripted.js'

const test = suite('tools that a user brings')

const truth = lendingTask().groundTruth[0]!
const offers = (from?: number) => [
  { environment: 'library', tool: 'list_books' },
  { environment: 'library', tool: 'lend_book', ...(from === undefined ? {} : { from }) },
]
const brought = lendingTask({
  toolset: offers(1),
  turns: ['Please lend emma to Ada.', 'There is a tool for it now.'],
  groundTruth: [{ ...truth, turn: 1 }],
})
const lend = writeCall('lend_book', { book: 'emma', reader: 'Ada' })
const CANNOT = 'I have no tool for that.'
const tokenizer = scriptTokenizer()
const runtimes = [...REWARD_PRESETS.values()].map((reward) => ({
  runtime: runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: reward.name })),
  maximum: reward.maximum.calls,
}))
const [{ runtime }] = runtimes as [(typeof runtimes)[0]]

test('are not in the first prompt, but listed in the turn that adds them', async () => {
  const first = tokenizer.detokenize([...promptOf(brought, runtime, AMPLE)])
  assert.match(first, /list_books/)
  assert.not.match(first, /lend_book/)
  const { tokens } = await play(brought, [CANNOT, lend, 'Done.'], runtime)
  const text = tokenizer.detokenize([...tokens])
  const [, after] = text.split('There is a tool for it now.\n\nThese tools are on offer now, too:\n') as [
    string,
    string,
  ]
  const stated = JSON.parse(after.slice(0, after.search(/<\|im_end\|>|\n/)))
  assert.equal(stated, {
    type: 'function',
    function: (({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }))(
      toolsetOf(brought, runtime.catalogue)[1]!,
    ),
  })
})

test('earn the most where they are used once they are there', async () => {
  for (const { runtime: rewarded, maximum } of runtimes) {
    const { reward, solved } = await play(brought, [CANNOT, lend, 'Done.'], rewarded)
    assert.equal([reward.total, solved], [maximum, true])
    assert.is((await play(brought, groundTruthScript(brought), rewarded)).reward.total, maximum)
  }
})

test('are unknown before, and a call of them is worth what one of no tool at all is', async () => {
  const never = writeCall('burn_book', { book: 'emma', reader: 'Ada' })
  for (const { runtime: rewarded, maximum } of runtimes) {
    const early = await play(brought, [lend, CANNOT, 'Done.'], rewarded)
    assert.is(JSON.parse(early.responses[0]!).error, 'unknown_tool')
    assert.not.ok(early.solved)
    const nonsense = await play(brought, [never, CANNOT, 'Done.'], rewarded)
    assert.equal(early.reward, nonsense.reward)
    assert.equal([early.stateHash, early.responses], [nonsense.stateHash, nonsense.responses])
    const late = await play(brought, [lend, CANNOT, lend, 'Done.'], rewarded)
    assert.ok(late.solved && late.reward.total < maximum && late.reward.total > early.reward.total)
  }
})

test('are on offer in an episode that is served from then on, also in a fork', async () => {
  for (const reward of REWARD_PRESETS.values()) {
    const episode = await openEpisode(brought, { runtime: createTaskRuntime(new Map([['library', library]])), reward })
    const names = (of = episode): string[] => of.offered.map(({ name }) => name)
    assert.equal(names(), ['list_books'])
    const before = episode.fork()
    const { user, added } = await episode.act(saying(CANNOT))
    assert.equal(
      added.map(({ name }) => name),
      ['lend_book'],
    )
    assert.is(user, statedTurns(brought, toolsetOf(brought, runtime.catalogue))[1])
    assert.equal(
      [names(), names(episode.fork()), names(before)],
      [['list_books', 'lend_book'], names(), ['list_books']],
    )
    await episode.act(calling('lend_book', { book: 'emma', reader: 'Ada' }))
    await episode.act(saying('Done.'))
    assert.is(episode.score().total, reward.maximum.calls)
  }
})

test('come with a turn that there is', () => {
  const late = lendingTask({ toolset: offers(2), turns: brought.turns, groundTruth: [] })
  const error = (() => {
    try {
      toolsetOf(late, runtime.catalogue)
    } catch (thrown) {
      return thrown
    }
  })()
  assert.ok(error instanceof EpisodeError && error.code === 'bad_task')
})

test('leave the words of the user as they were, whatever these are', () => {
  const turns = ['Hm.\n\nThese tools are on offer now, too:\nnone', 'These tools are on offer now, too:\n']
  const tools = toolsetOf(brought, runtime.catalogue).map((tool) => ({ ...tool, from: tool.from ?? 1 }))
  assert.equal(statedTurns({ turns }, tools)[0], turns[0])
  assert.is(wordsOfStated(statedTurns({ turns }, tools)[1]!), turns[1])
})

test.run()
