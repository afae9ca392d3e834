import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import pLimit from 'p-limit'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  connectInProcess,
  createSeedStateCache,
  deriveSeed,
  type Environment,
  offerEnvironments,
  type Session,
  STATE_HASH,
  seededRandom,
  serveHttp,
} from '../../servers/kernel/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { PATIENCE_MS } from '../support/patience.js'

const test = suite('sessions side by side')
const SESSIONS = 200
const CALLS = 12
const AT_ONCE = 8
const seedStates = createSeedStateCache()
const environments = [...CATALOGUE.values()]

/** What one user does, and what a session that it has for itself answers. */
interface Story {
  readonly environment: Environment
  readonly seed: number
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[]
  readonly answers: readonly string[]
  readonly hash: string
}

/** Half the stories of a world share a seed, so that a leak between them would show. */
function story(index: number): Story {
  const environment = environments[index % environments.length]!
  const seed = 1 + (Math.floor(index / environments.length) % 2)
  const session = seedStates.open(environment, seed)
  const random = seededRandom(deriveSeed('story', index))
  const calls: { name: string; args: Record<string, unknown> }[] = []
  const answers: string[] = []
  while (calls.length < CALLS) {
    const tool = random.pick(environment.tools)
    const args = session.sampleArguments(tool, random, {})
    if (!args) continue
    calls.push({ name: tool.name, args })
    answers.push(answerOf(session, tool.name, args))
  }
  return { environment, seed, calls, answers, hash: session.stateHash() }
}

function answerOf(session: Session, name: string, args: Record<string, unknown>): string {
  const result = session.call(name, args)
  return JSON.stringify(result.ok ? result.output : { error: result.code, message: result.message })
}

/** The order in which the stories take their steps: all mixed up, the same every time. */
function interleaving(): number[] {
  const turns = Array.from({ length: SESSIONS * CALLS }, (_, i) => i % SESSIONS)
  return seededRandom(deriveSeed('interleaving')).shuffle(turns)
}

async function tell(
  stories: readonly Story[],
  ask: (story: number, call: Story['calls'][number]) => Promise<string>,
): Promise<void> {
  const stated = stories.map(() => 0)
  const last: Promise<void>[] = stories.map(async () => {})
  const limit = pLimit(AT_ONCE)
  for (const index of interleaving()) {
    const { calls, answers, environment } = stories[index]!
    const step = stated[index]!++
    // A user waits for an answer before the next call; different users do not wait for each other.
    last[index] = last[index]!.then(() =>
      limit(async () => {
        const answer = await ask(index, calls[step]!)
        assert.is(answer, answers[step], `${environment.name}, story ${index}, call ${step}`)
      }),
    )
  }
  await Promise.all(last)
}

const allStories = (): Story[] => Array.from({ length: SESSIONS }, (_, index) => story(index))

const textOf = ({ content }: CallToolResult): string => (content[0]?.type === 'text' ? content[0].text : '')

test('200 sessions in one process do not see each other', async () => {
  const stories = allStories()
  const sessions = stories.map(({ environment, seed }) => seedStates.open(environment, seed))
  const connections = await Promise.all(sessions.map(connectInProcess))
  const { signal } = new AbortController()
  try {
    await tell(stories, async (index, { name, args }) => (await connections[index]!.callTool(name, args, signal)).text)
    for (const [index, session] of sessions.entries()) assert.is(session.stateHash(), stories[index]!.hash)
  } finally {
    await Promise.all(connections.map((connection) => connection.close()))
  }
})

test('200 sessions over HTTP at one endpoint do not see each other', async () => {
  const stories = allStories()
  const open = (environment: Environment, seed = 0) => seedStates.open(environment, seed)
  const host = await serveHttp(offerEnvironments(environments), open, { port: 0, maxSessionsPerClient: SESSIONS })
  try {
    const clients = await Promise.all(
      stories.map(async ({ seed }) => {
        const client = new Client({ name: 'test', version: '1.0.0' })
        await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}?seed=${seed}`)), {
          timeout: PATIENCE_MS,
        })
        return client
      }),
    )
    assert.is(host.sessionCount, SESSIONS)
    const hashes: unknown[] = []
    await tell(stories, async (index, { name, args }) => {
      const request = { name, arguments: args, _meta: { [STATE_HASH]: true } }
      const result = (await clients[index]!.callTool(request, undefined, { timeout: PATIENCE_MS })) as CallToolResult
      hashes[index] = result._meta![STATE_HASH]
      return textOf(result)
    })
    for (const [index, hash] of hashes.entries()) assert.is(hash, stories[index]!.hash)
    await Promise.all(clients.map((client) => client.close()))
  } finally {
    await host.close()
  }
})

test.run()
