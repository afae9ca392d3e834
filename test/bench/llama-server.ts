import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Token } from '../../rollout/engine/index.js'
import type { PlannedRollout } from './rollout-work.js'

/** llama.cpp's server, with as many slots as the engine has. */
export interface LlamaServer {
  readonly pid: number
  /** Plays the rollouts. @returns the number of sampled tokens */
  play(rollout: PlannedRollout, slot: number, signal: AbortSignal): Promise<number>
  close(): Promise<void>
}

export interface LlamaServerOptions {
  /** Path of the program. */
  readonly program: string
  readonly modelPath: string
  readonly slots: number
  /** Context size of a slot in tokens. */
  readonly contextSize: number
}

const START_MS = 120_000
const STOP_MS = 5000

const completion = z.object({ tokens: z.array(z.int().min(0)).min(1) })

/** Starts the server with the engine's settings: one thread, no GPU, no flash attention. Each slot caches its last conversation. */
export async function startLlamaServer(options: LlamaServerOptions, signal: AbortSignal): Promise<LlamaServer> {
  const { program, modelPath, slots, contextSize } = options
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const child = spawn(
    program,
    [
      ...['--model', modelPath, '--host', '127.0.0.1', '--port', String(port), '--offline', '--no-slots'],
      ...['--threads', '1', '--threads-batch', '1', '--n-gpu-layers', '0', '--flash-attn', 'off'],
      ...['--parallel', String(slots), '--ctx-size', String(slots * contextSize), '--no-kv-unified'],
      ...['--batch-size', '512', '--ubatch-size', '512', '--cache-prompt', '--no-context-shift', '--log-disable'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1000)
  })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with status ${code}: ${said.trim()}`)))
  })
  failed.catch(() => undefined)
  const close = (): Promise<void> => stop(child)
  try {
    await Promise.race([untilHealthy(base, AbortSignal.any([signal, AbortSignal.timeout(START_MS)])), failed])
  } catch (error) {
    await close()
    throw error
  }
  return {
    pid: child.pid!,
    close,
    async play({ prompt, turns }, slot, until) {
      const history: Token[] = [...prompt]
      let sampled = 0
      for (const { feed, seed, maxTokens } of turns) {
        history.push(...feed)
        const response = await fetch(`${base}/completion`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            ...{ prompt: history, id_slot: slot, cache_prompt: true, n_predict: maxTokens, seed, return_tokens: true },
            ...{ temperature: 1, top_k: 0, top_p: 1, min_p: 0, samplers: ['temperature'], stream: false },
          }),
          signal: until,
        })
        if (!response.ok) throw new Error(`${program}: ${response.status} ${await response.text()}`)
        const { tokens } = completion.parse(await response.json())
        history.push(...tokens)
        sampled += tokens.length
      }
      return sampled
    },
  }
}

async function untilHealthy(base: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const answer = await fetch(`${base}/health`, { signal }).catch(() => null)
    signal.throwIfAborted()
    if (answer?.ok) return
    await sleep(100, undefined, { signal })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}
