import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { integerOption, stopSignal } from '../../common/cli/index.js'
import { isLoopback } from '../../common/http/index.js'
import { SERVE_LIMITS, serveOpenAi } from '../../rollout/inference/index.js'
import { NodeError } from '../report/errors.js'
import { type ModelOptions, openNamedPolicy, withModelOptions } from './model-options.js'

interface ServeOptions extends ModelOptions {
  readonly port: number
  readonly host: string
  readonly apiKey?: string
  readonly modelName?: string
  readonly slots: number
  readonly maxTokens: number
}

/** Adds `prove-node serve`: a published policy over OpenAI's protocol. */
export function addServeCommand(program: Command): void {
  withModelOptions(
    program.command('serve').description('Serve an adapter over OpenAI’s API: chat completions and responses'),
  )
    .option('--port <number>', 'port to listen on; 0: any free port', integerOption(0, 65_535), 8000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--api-key <key>', 'API key that clients must send; default: a random one if other machines can connect')
    .option('--model-name <name>', 'name of the model for others; default: the base model and the version')
    .option(
      '--slots <number>',
      'sequences that an engine generates in parallel, and so most answers to one request (n)',
      integerOption(1, 8),
      1,
    )
    .option(
      '--max-tokens <number>',
      'longest answer, to a request that sets no limit',
      integerOption(1, 1_048_576),
      SERVE_LIMITS.defaultMaxTokens,
    )
    .action(async (folder: string | undefined, options: ServeOptions) => {
      const { signal: stop } = stopSignal()
      const { port, host, slots, maxTokens } = options
      const token = options.apiKey ?? (isLoopback(host) ? null : randomBytes(24).toString('base64url'))
      const opened = await openNamedPolicy(folder, options, slots, stop)
      const policy = { ...opened, name: options.modelName ?? opened.name }
      try {
        const onError = (error: unknown): void => {
          process.stderr.write(`prove-node: ${error instanceof Error ? error.message : error}\n`)
        }
        const served = await serveOpenAi(policy, { port, host, token, maxTokens, onError }).catch(
          (cause: NodeJS.ErrnoException) => {
            if (cause.syscall === undefined) throw cause
            const why =
              cause.code === 'EADDRINUSE'
                ? 'another program listens there; give another --port, or 0 for any'
                : cause.message
            throw new NodeError('bad_listen', `${host}, port ${port}: ${why}`, { cause })
          },
        )
        try {
          const made = token !== null && options.apiKey === undefined ? `; API key ${token}` : ''
          process.stdout.write(`${policy.name} at ${served.url}, context ${policy.contextSize} tokens${made}\n`)
          await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
        } finally {
          await served.close()
        }
      } finally {
        await policy.close()
      }
    })
}
