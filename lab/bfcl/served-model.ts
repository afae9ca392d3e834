import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { packageRoot } from '../../common/cli/index.js'
import { BfclError } from './errors.js'

export interface ServedModel {
  readonly modelPath: string
  readonly adapterPath: string | null
  /** Name by which clients ask for the model. */
  readonly name: string
  readonly toolCallFormat: string
  readonly contextSize: number
  /** Longest answer to a request that sets no limit, in tokens. */
  readonly maxTokens: number
  readonly threads: number
  readonly gpu: boolean
}

/** Loading a large model from a slow disk takes minutes. */
const START_MS = 15 * 60_000
const GRACE_MS = 10_000
const TAIL_CHARS = 1000

/** Program that ends the server when this process ends in any way. */
const ENDS_WITH_PARENT = fileURLToPath(new URL('ends-with-parent.js', import.meta.url))

/**
 * Runs `prove-node serve` on a free port while `work` runs.
 * @param work  gets the base URL of the server, and a signal that also aborts when the server ends
 * @throws BfclError `server_failed` with the message of the server
 */
export async function withServedModel<T>(
  { modelPath, adapterPath, name, toolCallFormat, contextSize, maxTokens, threads, gpu }: ServedModel,
  work: (url: string, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const model = ['--model', modelPath, ...(adapterPath === null ? [] : ['--adapter', adapterPath])]
  const settings = ['--tool-call-format', toolCallFormat, '--context', `${contextSize}`, '--max-tokens', `${maxTokens}`]
  const machine = ['--threads', `${threads}`, ...(gpu ? [] : ['--cpu'])]
  const program = join(packageRoot, 'bin', 'prove-node.cjs')
  const done = new AbortController()
  const server = execa(
    process.execPath,
    [...[ENDS_WITH_PARENT, program, 'serve'], ...model, ...settings, ...machine, '--model-name', name, '--port', '0'],
    {
      ...{ stdin: 'pipe', buffer: false, reject: false, env: { NO_COLOR: '1', FORCE_COLOR: undefined } },
      // execa's clean-up would end this process at a signal, before its last words.
      ...{ cancelSignal: done.signal, forceKillAfterDelay: GRACE_MS, cleanup: false },
    },
  )
  let said = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-TAIL_CHARS)
  })
  const ended = server.then(({ exitCode, originalMessage }) => {
    const status = exitCode === undefined ? originalMessage : `status ${exitCode}`
    return new BfclError('server_failed', `prove-node serve ended with ${status}: ${said.trim() || 'no message'}`)
  })
  const gone = new AbortController()
  ended.then((error) => gone.abort(error))
  const all = AbortSignal.any([signal, gone.signal])
  try {
    const lines = createInterface({ input: server.stdout })
    const started = AbortSignal.any([all, AbortSignal.timeout(START_MS)])
    const [line] = (await once(lines, 'line', { signal: started }).catch((error: unknown) => {
      all.throwIfAborted()
      throw started.aborted
        ? new BfclError(
            'server_failed',
            `prove-node serve did not start within ${START_MS / 60_000} minutes: ${said.trim()}`,
          )
        : error
    })) as [string]
    lines.resume()
    const url = / at (http:\/\/\S+), context /.exec(line)?.[1]
    if (url === undefined)
      throw new BfclError('server_failed', `prove-node serve printed no address: ${line.slice(0, 200)}`)
    return await work(url, all)
  } finally {
    done.abort()
    await server
  }
}
