import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { AssistantMessage } from '../../rollout/episode/index.js'
import { PAPER } from '../../rollout/reward/index.js'
import { createEpisodes } from '../../servers/episodes/episodes.js'
import { scoreRollout } from '../../servers/episodes/index.js'
import { REPLY_TOOL } from '../../servers/episodes/reply-tool.js'
import { serveEpisodes } from '../../servers/episodes/serve.js'
import { callIn, calling, referenceActions, runtime, talkative, tasks } from '../support/episodes.js'
import { PATIENCE_MS } from '../support/patience.js'

const test = suite('the MCP SDKs for TypeScript')

const { task } = talkative
const right = referenceActions(talkative)
const first = callIn(right[0]!)!
/** Messages of a model: the reference solution, or the same with a fault in its first call. */
const PLAYS: Readonly<Record<string, readonly AssistantMessage[]>> = {
  right,
  wrong: [calling(first.name, { ...first.arguments, nonsense: 1 }), ...right.slice(1)],
  repeated: [calling(first.name, first.arguments), ...right],
}

type Call = (name: string, args: Record<string, unknown>) => Promise<unknown>

/** Connects a client of each era. @returns  a function that calls a tool, and one that closes the connection */
const ERAS: Readonly<Record<string, (url: URL) => Promise<{ call: Call; close: () => Promise<void> }>>> = {
  'up to 2025-11-25': async (url) => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(url), { timeout: PATIENCE_MS })
    return {
      call: (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE_MS }),
      close: () => client.close(),
    }
  },
  '2026-07-28': async (url) => {
    const versionNegotiation = { mode: { pin: '2026-07-28' } } as const
    const client = new NewClient({ name: 'test', version: '1.0.0' }, { versionNegotiation })
    await client.connect(new NewTransport(url), { timeout: PATIENCE_MS })
    return {
      call: (name, args) => client.callTool({ name, arguments: args }, { timeout: PATIENCE_MS }),
      close: () => client.close(),
    }
  },
}

const json = (result: unknown) => JSON.parse((result as { content: [{ text: string }] }).content[0].text)

for (const [era, connect] of Object.entries(ERAS))
  for (const [name, messages] of Object.entries(PLAYS))
    test(`a client of MCP ${era} gets the reward of a ${name} solution`, async () => {
      const defaults = { reward: PAPER, signal: 'final', split: 'train' } as const
      const service = { tasks, episodes: createEpisodes(runtime), defaults }
      const listening = await serveEpisodes(service, { host: '127.0.0.1', port: 0 })
      try {
        const { call, close } = await connect(new URL(`${listening.origin}/mcp`))
        const { session } = json(await call('open', { task: task.id }))
        for (const message of messages) {
          const made = callIn(message)
          if (made) await call(made.name, { session, ...made.arguments })
          else await call(REPLY_TOOL.name, { session, text: message.text })
        }
        const { total, over } = json(await call('close', { session }))
        await close()
        const line = { task: task.id, actions: messages }
        const scored = await scoreRollout(line, { runtime, reward: PAPER, named: (id) => tasks.named(id) })
        assert.equal([total, over], [scored.total, true])
      } finally {
        await listening.close()
      }
    })

test.run()
