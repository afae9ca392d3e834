import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createParaphraser,
  type Paraphraser,
  type ParaphraserOptions,
} from '../../tasks/synthesis/paraphraser/index.js'
import { CATALOGUE } from './catalogue.js'
import { PATIENCE_MS, patience } from './patience.js'

/** A server of chat completions on the loopback interface. The test determines its answers. */

export interface Asked {
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  /** The user message. */
  readonly prompt: string
  /** The turns of the draft in the message, if it comes from the paraphraser. */
  readonly drafts: readonly { readonly user: string; readonly assistant: string }[]
}

export type Behaviour = (response: ServerResponse, asked: Asked, nth: number) => void | Promise<void>

export interface TestServer {
  readonly url: string
  readonly asked: readonly Asked[]
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

export async function startServer(behaviour: Behaviour): Promise<TestServer> {
  const asked: Asked[] = []
  let current = behaviour
  const server = createServer(async (request, response) => {
    // Broken connections must not become unhandled errors.
    response.on('error', () => {})
    if (request.url === '/v1/models') return sendJson(response, { object: 'list', data: [{ id: 'tiny-teacher' }] })
    if (request.url !== '/v1/chat/completions') return sendJson(response, { error: { message: 'not here' } }, 404)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked['body']
    const prompt = (body.messages as { content: string }[])[1]?.content ?? ''
    const next = {
      ...{ headers: request.headers, body, prompt },
      get drafts() {
        return draftsIn(prompt)
      },
    }
    asked.push(next)
    await current(response, next, asked.length - 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    behave(next) {
      current = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function draftsIn(prompt: string): Asked['drafts'] {
  const from = prompt.indexOf('{\n')
  const to = prompt.indexOf('\n}', from)
  const { turns } = JSON.parse(prompt.slice(from, to + 2)) as {
    turns: { user: { draft: string }; assistant: { draft: string } }[]
  }
  return turns.map(({ user, assistant }) => ({ user: user.draft, assistant: assistant.draft }))
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** Answers with this text as the output of the model. */
export const says =
  (text: string, more: object = {}, usage: unknown = { prompt_tokens: 300, completion_tokens: 100 }): Behaviour =>
  (response) =>
    sendJson(response, completion(text, more, usage))

export const completion = (content: string, more: object = {}, usage: unknown = undefined) => ({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, ...more } }],
  ...(usage === undefined ? {} : { usage }),
})

export const fails =
  (status: number, headers = {}, error: object = { message: 'no', type: 'server_error' }): Behaviour =>
  (response) =>
    sendJson(response, { error }, status, headers)

/** A paraphraser that adds a few words and observes every rule. */
export const polite: Behaviour = (response, { drafts }) =>
  sendJson(
    response,
    completion(JSON.stringify({ turns: drafts.map(politely) }), {}, { prompt_tokens: 300, completion_tokens: 100 }),
  )

export const politely = ({ user, assistant }: { user: string; assistant: string }) => ({
  user: `Kindly do this for me. ${user}`,
  assistant: `Certainly. ${assistant}`,
})

export const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (response, asked, nth) =>
    behaviours[Math.min(nth, behaviours.length - 1)]!(response, asked, nth)

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'prove-paraphraser-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

export const never = patience

/** A paraphraser that retries soon. */
export function paraphraserAt(
  url: string,
  cacheFolder: string,
  more: Partial<ParaphraserOptions> = {},
): Promise<Paraphraser> {
  const options: ParaphraserOptions = {
    source: { kind: 'server', url },
    catalogue: CATALOGUE,
    cacheFolder,
    budget: { requests: 1000, tokens: 10_000_000 },
    ...more,
    limits: { backoffMs: 2, timeoutMs: PATIENCE_MS, ...more.limits },
  }
  return createParaphraser(options, never())
}

/** Runs a function with a server, a cache folder and a paraphraser, and closes all of them. */
export async function withParaphraser(
  behaviour: Behaviour,
  body: (paraphraser: Paraphraser, server: TestServer, folder: string) => Promise<void>,
  more: Partial<ParaphraserOptions> = {},
): Promise<void> {
  const folder = await temporaryFolder()
  const server = await startServer(behaviour)
  try {
    const paraphraser = await paraphraserAt(server.url, folder.path, more)
    try {
      await body(paraphraser, server, folder.path)
    } finally {
      await paraphraser.close()
    }
  } finally {
    await server.close()
    await folder.remove()
  }
}
