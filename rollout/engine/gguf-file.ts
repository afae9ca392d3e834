import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { EngineError } from './errors.js'
import { type GgufHeader, type GgufValue, readGguf } from './gguf.js'

/** Longer than any chat template that is rendered, in bytes. */
const MAX_CHAT_TEMPLATE_BYTES = 256 * 1024

/** Reads the header of a GGUF file. @throws EngineError `model_refused` or `adapter_refused` if it cannot be read or is invalid */
export function readGgufFile(path: string, what: 'model' | 'adapter'): GgufHeader {
  const code = `${what}_refused` as const
  const failed = (cause: unknown): EngineError =>
    new EngineError(code, `${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw failed(cause)
  }
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw new EngineError(code, 'not a file')
    return readGguf({ sizeBytes: status.size, read: (start, length) => readFully(file, start, length) }, what)
  } catch (cause) {
    throw cause instanceof EngineError ? new EngineError(code, `${path}: ${cause.detail}`, { cause }) : failed(cause)
  } finally {
    closeSync(file)
  }
}

function readFully(file: number, start: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, start + filled)
    if (read === 0) throw new Error('the file became shorter while it was read')
    filled += read
  }
  return bytes
}

/**
 * Checks a base model before llama.cpp opens it. It must have a readable header, tensors within the file, a vocabulary with lists of
 * equal length, and a chat template of bounded length. It must be a single file, since the hash covers no other.
 * @param chatTemplate  whether the file must have a chat template; `optional`: another one replaces it
 * @throws EngineError `model_refused`
 */
export function readModelFile(path: string, chatTemplate: 'required' | 'optional' = 'required'): GgufHeader {
  const header = readGgufFile(path, 'model')
  const { metadata } = header
  const refuse = (detail: string): EngineError => new EngineError('model_refused', `${path}: ${detail}`)
  if (typeof metadata.get('general.architecture') !== 'string') throw refuse('its metadata names no architecture')
  const parts = metadata.get('split.count') ?? 0
  if (typeof parts !== 'number' || parts > 1)
    throw refuse('it is split into several files: merge them with llama-gguf-split --merge')
  const template = metadata.get('tokenizer.chat_template')
  if (typeof template !== 'string' && (template !== undefined || chatTemplate === 'required'))
    throw refuse('it has no chat template')
  if (typeof template === 'string' && Buffer.byteLength(template) > MAX_CHAT_TEMPLATE_BYTES)
    throw refuse(
      `its chat template has ${template.length} characters, at most ${MAX_CHAT_TEMPLATE_BYTES} bytes are read`,
    )
  const tokens = countOf(metadata.get('tokenizer.ggml.tokens'))
  const types = countOf(metadata.get('tokenizer.ggml.token_type'))
  if (tokens === 0 || types !== tokens) throw refuse(`its vocabulary has ${tokens} tokens and ${types} token types`)
  return header
}

const countOf = (value: GgufValue | undefined): number => (typeof value === 'object' ? value.count : 0)
