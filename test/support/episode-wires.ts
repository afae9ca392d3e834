import { REPLY_TOOL } from '../../servers/episodes/reply-tool.js'
import { patience } from './patience.js'
import type { WrittenCall, WrittenMessage } from './random-conversations.js'

/** One client for each protocol of served episodes, which plays written messages and returns the reward. */

export interface Wire {
  readonly name: string
  /** Plays the messages until the episode is over, and returns its reward. */
  play(origin: string, task: string, reward: string, messages: readonly WrittenMessage[]): Promise<number>
}

// biome-ignore lint/suspicious/noExplicitAny: answers of a server under test are looked at field by field
type Answer = { status: number; text: string; json: any; headers: Headers }

/** @param body  JSON text, which may contain `NaN` as Python writes it; undefined: no body */
async function post(url: string, body: string | undefined, headers: Record<string, string> = {}): Promise<Answer> {
  const accept = 'application/json, text/event-stream'
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    ...(body === undefined ? {} : { body }),
  }
  const answer = await fetch(url, { ...sent, signal: patience() })
  const text = await answer.text()
  return { status: answer.status, text, json: jsonIn(text), headers: answer.headers }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the JSON parser of Python accepts a text: it knows `NaN` and `Infinity` too. */
const isPythonJson = (text: string): boolean => jsonIn(text.replace(/(?<=[ [])-?(?:NaN|Infinity)/g, '0')) !== undefined

/** Arguments in the JSON of a client that parses them; the text itself, as a text, if it cannot be parsed. */
const parsedArguments = ({ args }: WrittenCall): string => (isPythonJson(args) ? args : JSON.stringify(args))

const quote = (value: unknown): string => JSON.stringify(value)

/** A call of a message for a client that can only call tools: a message without calls is a call of the reply tool. */
interface SingleCall {
  readonly name: string
  readonly args: string
  /** The message around the call, in JSON. */
  readonly around: string
}

const singleCalls = ({ text, calls }: WrittenMessage): SingleCall[] => {
  if (calls.length === 0) return [{ name: REPLY_TOOL.name, args: quote({ text }), around: '{}' }]
  return calls.map((call, i) => ({
    name: call.name,
    args: parsedArguments(call),
    around: quote({ ...(i === 0 ? { text } : {}), more: i < calls.length - 1 }),
  }))
}

async function scoreOf(origin: string, episode: string): Promise<number> {
  const answer = await fetch(`${origin}/episodes/${episode}`, { signal: patience() })
  return (await answer.json()).score.total
}

const open = async (origin: string, task: string, reward: string): Promise<string> =>
  (await post(`${origin}/episodes`, quote({ task, reward }))).json.episode

const PLAIN: Wire = {
  name: 'plain JSON',
  async play(origin, task, reward, messages) {
    const episode = await open(origin, task, reward)
    for (const { text, calls } of messages) {
      // Some of the arguments as JSON, and some as its text.
      const made = calls.map((call, i) => {
        const isText = i % 2 === 0 || !isPythonJson(call.args) || call.args.startsWith('"')
        return `{"name": ${quote(call.name)}, "arguments": ${isText ? quote(call.args) : call.args}}`
      })
      const body = `{"text": ${quote(text)}, "calls": [${made.join(', ')}]}`
      const { json } = await post(`${origin}/episodes/${episode}/actions`, body)
      if (json.over) break
    }
    return scoreOf(origin, episode)
  },
}

const rpc = (name: string, args: string, meta: string): string =>
  `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ${quote(name)}, "arguments": ${args}, "_meta": ${meta}}}`

const MCP: Wire = {
  name: 'MCP at an episode',
  async play(origin, task, reward, messages) {
    const episode = await open(origin, task, reward)
    for (const { name, args, around } of messages.flatMap(singleCalls)) {
      const { status } = await post(
        `${origin}/episodes/${episode}/mcp`,
        rpc(name, args, `{"prove/message": ${around}}`),
      )
      if (status !== 200) break
    }
    return scoreOf(origin, episode)
  },
}

const TASK_MCP: Wire = {
  name: 'MCP with tools that open tasks',
  async play(origin, task, reward, messages) {
    const call = async (name: string, args: string, meta = '{}'): Promise<{ session: string; total: number }> =>
      JSON.parse((await post(`${origin}/mcp`, rpc(name, args, meta))).json.result.content[0].text)
    const { session } = await call('open', quote({ task, reward }))
    for (const { name: written, args, around } of messages.flatMap(singleCalls)) {
      // A client of this address knows its own tools, so a model has other names for its calls.
      const name = ['open', 'fork', 'close'].includes(written) ? `${written}_it` : written
      // Only an object can name a session, so this client can pass on no other arguments.
      const given = args.startsWith('{') ? args.slice(1) : '"prove/not_an_object": NaN}'
      const comma = given.trim() === '}' ? '' : ', '
      await call(name, `{"session": ${quote(session)}${comma}${given}`, `{"prove/message": ${around}}`).catch(
        () => undefined,
      )
    }
    return (await call('close', quote({ session }))).total
  },
}

const ORS: Wire = {
  name: 'Open Reward Standard',
  async play(origin, task, reward, messages) {
    const sid = crypto.randomUUID()
    const session = { 'x-session-id': sid }
    await post(`${origin}/create`, quote({ task_spec: { task, reward, reward_signal: 'total' } }), session)
    let earned = Number.NaN
    for (const { name, args, around } of messages.flatMap(singleCalls)) {
      const body = `{"name": ${quote(name)}, "input": ${args}, "message": ${around}}`
      const { status, text } = await post(`${origin}/prove/call`, body, session)
      if (status !== 200) break
      const pieces = [...text.matchAll(/event: (?:chunk|end)\ndata: ([^\n]*)\n\n/g)].map(([, piece]) => piece!)
      earned = JSON.parse(pieces.join('')).output.reward
    }
    await post(`${origin}/delete`, '{}', session)
    return earned
  },
}

/** Plays as NeMo Gym's `SimpleAgent` does: it answers arguments that are not JSON itself, and sends no body for `null`. */
const NEMO_GYM: Wire = {
  name: 'NeMo Gym',
  async play(origin, task, _, messages) {
    const row = { responses_create_params: { input: [] }, verifier_metadata: { task } }
    const seeded = await post(`${origin}/seed_session`, quote(row))
    const cookie = { cookie: seeded.headers.get('set-cookie')!.split(';')[0]! }
    const output: object[] = []
    for (const message of messages) {
      if (message.text !== '' && message.calls.length > 0)
        output.push({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: message.text }] })
      const calls =
        message.calls.length > 0 ? message.calls : [{ name: REPLY_TOOL.name, args: quote({ text: message.text }) }]
      for (const { name, args } of calls) output.push({ type: 'function_call', call_id: 'c', name, arguments: args })
      for (const { name, args } of calls) {
        if (isPythonJson(args)) {
          // Its writer of JSON has no NaN.
          const body = args.replace(/-?(?:NaN|Infinity)/g, 'null')
          await post(`${origin}/${encodeURIComponent(name)}`, body === 'null' ? undefined : body, cookie)
        }
        output.push({ type: 'function_call_output', call_id: 'c', output: '{}' })
      }
    }
    return (await post(`${origin}/verify`, quote({ ...row, response: { output } }), cookie)).json.reward
  },
}

export const WIRES: readonly Wire[] = [PLAIN, MCP, TASK_MCP, ORS, NEMO_GYM]
