import { open } from 'node:fs/promises'
import { EngineError } from './errors.js'
import { GGML_F16, GGML_F32, type GgufHeader, type GgufTensor, printable } from './gguf.js'
import { readGgufFile } from './gguf-file.js'
import type { AdapterShape } from './types.js'

/** The ggml name of each projection that PEFT can adapt, inside a block. */
const PROJECTIONS: Readonly<Record<string, string>> = {
  q_proj: 'attn_q',
  k_proj: 'attn_k',
  v_proj: 'attn_v',
  o_proj: 'attn_output',
  gate_proj: 'ffn_gate',
  up_proj: 'ffn_up',
  down_proj: 'ffn_down',
}
const FACTOR = /^(blk\.\d{1,4}\.([a-z_]+)\.weight)\.lora_([ab])$/
const MAX_RANK = 4096
/** Relative tolerance between the alpha in the file, which is float32, and the published one. */
const ALPHA_SLACK = 1e-5
const PIECE_BYTES = 2 ** 20

const refuse = (detail: string): EngineError => new EngineError('adapter_refused', detail)

/**
 * Checks a LoRA adapter from the network before llama.cpp opens it. It must have the architecture of the base, one rank, and finite values
 * in float16 or float32. It must contain only pairs of low-rank factors of the base's projections, with fitting sizes.
 * @param base   header of the base model
 * @param shape  the published shape of the adapter, if known
 * @throws EngineError `adapter_refused`, which names the fault
 */
export async function checkAdapterFile(
  path: string,
  base: GgufHeader,
  shape: AdapterShape | undefined,
  signal: AbortSignal,
): Promise<void> {
  const header = readGgufFile(path, 'adapter')
  checkAdapter(header, base, shape)
  const file = await open(path, 'r').catch((cause: Error) => {
    throw new EngineError('adapter_refused', `${path}: ${cause.message}`, { cause })
  })
  try {
    const piece = new Uint8Array(PIECE_BYTES)
    for (const [name, { start, sizeBytes, type }] of header.tensors) {
      for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
        signal.throwIfAborted()
        const length = Math.min(PIECE_BYTES, sizeBytes - at)
        const { bytesRead } = await file.read(piece, 0, length, start + at)
        if (bytesRead < length) throw refuse(`${path} became shorter while it was read`)
        if (!allFinite(piece.subarray(0, length), type))
          throw refuse(`${printable(name)} contains a value that is not finite`)
      }
    }
  } finally {
    await file.close()
  }
}

/** Checks the header of an adapter, without its values. @throws EngineError `adapter_refused` */
export function checkAdapter(
  { metadata, tensors }: GgufHeader,
  base: GgufHeader,
  shape: AdapterShape | undefined,
): void {
  const architecture = base.metadata.get('general.architecture')
  if (metadata.get('general.architecture') !== architecture)
    throw refuse(`the adapter is not for the architecture ${String(architecture)}`)
  if (metadata.get('general.type') !== 'adapter' || metadata.get('adapter.type') !== 'lora')
    throw refuse('the file is not a LoRA adapter')
  for (const key of metadata.keys()) {
    if (!key.startsWith('general.') && key !== 'adapter.type' && key !== 'adapter.lora.alpha')
      throw refuse(`a LoRA adapter must not have the metadata ${printable(key)}`)
  }
  const modules = new Set<string>()
  let rank = 0
  for (const [name, factor] of tensors) {
    const [, weight, module, which] = FACTOR.exec(name) ?? []
    const adapted = weight === undefined ? undefined : base.tensors.get(weight)
    if (!adapted || module === undefined || !Object.values(PROJECTIONS).includes(module) || adapted.shape.length !== 2)
      throw refuse(`the tensor ${printable(name)} belongs to no projection of the base`)
    const other = tensors.get(`${weight}.lora_${which === 'a' ? 'b' : 'a'}`)
    if (!other) throw refuse(`the tensor ${printable(name)} has no second factor`)
    rank ||= rankOf(factor, which)
    checkFactor(name, factor, which, adapted, rank)
    modules.add(module)
  }
  if (rank === 0) throw refuse('the adapter has no tensors')
  checkScale(metadata.get('adapter.lora.alpha'), rank, shape)
  if (shape) checkShape(shape, rank, modules)
}

const rankOf = ({ shape }: GgufTensor, which: string | undefined): number => shape[which === 'a' ? 1 : 0] ?? 0

function checkFactor(
  name: string,
  { shape, type }: GgufTensor,
  which: string | undefined,
  adapted: GgufTensor,
  rank: number,
): void {
  if (type !== GGML_F16 && type !== GGML_F32) throw refuse(`${printable(name)} is neither float16 nor float32`)
  const expected = which === 'a' ? [adapted.shape[0], rank] : [rank, adapted.shape[1]]
  if (rank < 1 || rank > MAX_RANK || shape.length !== 2 || shape[0] !== expected[0] || shape[1] !== expected[1])
    throw refuse(`${printable(name)} is ${shape.join(' x ')}, not ${expected.join(' x ')}`)
}

function checkScale(alpha: unknown, rank: number, shape: AdapterShape | undefined): void {
  if (typeof alpha !== 'number' || !Number.isFinite(alpha) || alpha < 0) throw refuse(`the alpha is ${String(alpha)}`)
  if (!shape) return
  // Rank-stabilised LoRA divides by the root of the rank; llama.cpp cannot, so its alpha is stored larger.
  const published = [shape.alpha, shape.alpha * Math.sqrt(rank)]
  if (!published.some((value) => Math.abs(alpha - value) <= ALPHA_SLACK * value))
    throw refuse(`the alpha is ${alpha}, the published one is ${shape.alpha}`)
}

function checkShape(shape: AdapterShape, rank: number, modules: ReadonlySet<string>): void {
  if (shape.rank !== rank) throw refuse(`the rank is ${rank}, the published one is ${shape.rank}`)
  const published = new Set(
    shape.targetModules.map((name) => (Object.hasOwn(PROJECTIONS, name) ? PROJECTIONS[name] : name)),
  )
  if (published.size !== modules.size || [...modules].some((module) => !published.has(module)))
    throw refuse(`the adapter adapts ${[...modules].join(', ')}, published was ${shape.targetModules.join(', ')}`)
}

/** Whether all floats are finite: infinities and NaN have all exponent bits set. */
function allFinite(bytes: Uint8Array, type: number): boolean {
  const { buffer, byteOffset, byteLength } = bytes
  if (type === GGML_F16) {
    for (const bits of new Uint16Array(buffer, byteOffset, byteLength / 2)) if ((bits & 0x7c00) === 0x7c00) return false
    return true
  }
  for (const bits of new Uint32Array(buffer, byteOffset, byteLength / 4))
    if ((bits & 0x7f800000) === 0x7f800000) return false
  return true
}
