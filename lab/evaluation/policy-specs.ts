import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { openToolChat } from '../../rollout/chat/index.js'
import { type AdapterFile, hashFile } from '../../rollout/engine/index.js'
import { EvaluationError } from './errors.js'

/** Options that name policies. Each value may begin with a label: `warm=warm.gguf`. */
export interface PolicyOptions {
  readonly model?: string
  readonly adapter?: readonly string[]
  /** Whether the base model alone is a policy, too. */
  readonly base: boolean
  readonly merged?: readonly string[]
  readonly url?: string
  readonly urlModel?: readonly string[]
  /** Time limit of a request to the server, in seconds. */
  readonly urlTimeout: number
  /** Name of the environment variable with the server's key. */
  readonly apiKeyVar: string
}

/** A server with OpenAI's chat completions API. */
export interface ServerOptions {
  readonly url: string
  readonly timeoutMs: number
  readonly apiKey: string | undefined
}

/** A policy to evaluate. */
export type PolicySpec =
  | {
      readonly kind: 'base' | 'merged'
      readonly label: string
      readonly modelPath: string
      readonly sha256: string
    }
  | {
      readonly kind: 'adapter'
      readonly label: string
      readonly modelPath: string
      readonly sha256: string
      readonly baseSha256: string
      readonly adapter: AdapterFile
    }
  | {
      readonly kind: 'endpoint'
      readonly label: string
      readonly server: ServerOptions
      readonly model: string
    }

/** A policy of a model file. */
export type LocalSpec = Exclude<PolicySpec, { kind: 'endpoint' }>

/**
 * Reads the policies that the options name, in this order: base model, adapters, merged models, models of the server. The others are compared
 * with the first one.
 * @throws EvaluationError `bad_policies`; ChatError; the system's error if a file cannot be read
 */
export async function policiesOf(options: PolicyOptions, signal: AbortSignal): Promise<PolicySpec[]> {
  const { model, adapter = [], base, merged = [], url, urlModel } = options
  const refuse = (problem: string): never => {
    throw new EvaluationError('bad_policies', problem)
  }
  if (adapter.length > 0 && model === undefined)
    refuse('--adapter needs its base model: give --model base.gguf, or --merged for a merged model')
  if (urlModel && url === undefined) refuse('--url-model needs its server: give --url')
  if (!base && adapter.length === 0 && model !== undefined)
    refuse('--no-base leaves out the base model, and --model has no --adapter: give one, or remove --no-base')
  const policies: PolicySpec[] = []
  if (model !== undefined) {
    const { label = 'base', value } = labelled(model)
    const modelPath = resolve(value)
    const adapters = adapter.map((text) => {
      const named = labelled(text)
      return { label: named.label ?? nameOf(named.value), file: adapterFile(named.value) }
    })
    const sha256 = await hashFile(modelPath, signal)
    if (base) policies.push({ kind: 'base', label, modelPath, sha256 })
    for (const { label: own, file } of adapters)
      policies.push({
        ...{ kind: 'adapter', label: own, modelPath, sha256: file.sha256, baseSha256: sha256, adapter: file },
      })
  }
  for (const text of merged) {
    const { label, value } = labelled(text)
    const sha256 = await hashFile(resolve(value), signal)
    policies.push({ kind: 'merged', label: label ?? nameOf(value), modelPath: resolve(value), sha256 })
  }
  if (url !== undefined) {
    const server = { url, timeoutMs: 1000 * options.urlTimeout, apiKey: process.env[options.apiKeyVar] }
    for (const text of urlModel ?? [(await openToolChat(server, signal)).name]) {
      const { label, value } = labelled(text)
      policies.push({ kind: 'endpoint', label: label ?? printable(value), server, model: value })
    }
  }
  if (policies.length === 0) refuse('no policy: give --model, --merged or --url')
  const twice = policies.find(({ label }, i) => policies.some((other, j) => j < i && other.label === label))
  if (twice) refuse(`two policies have the label ${twice.label}: name them, such as first=${twice.label}`)
  return policies
}

/** A label before an equals sign. It contains no slash, so `./a=b.gguf` is a path. */
const LABELLED = /^([A-Za-z0-9][\w .+-]{0,39})=(.+)$/s

function labelled(text: string): { readonly label?: string; readonly value: string } {
  const [, label, value] = LABELLED.exec(text) ?? []
  return label === undefined ? { value: text } : { label, value: value! }
}

/** Removes characters of a server's text that would break a table. */
const printable = (text: string): string => text.replaceAll(/[\p{C}`|]+/gu, ' ')

const nameOf = (path: string): string => basename(path).replace(/\.gguf$/, '')

function adapterFile(path: string): AdapterFile {
  return { path: resolve(path), sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }
}

/** Returns the part of a policy that identifies it, for the file of results. Paths may change. */
export function identityOf(spec: PolicySpec): object {
  if (spec.kind === 'endpoint') return { kind: spec.kind, url: spec.server.url, model: spec.model }
  const { kind, sha256 } = spec
  return { kind, sha256, ...(kind === 'adapter' ? { baseSha256: spec.baseSha256 } : {}) }
}
