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
/** Of the alpha in the file from the published one: it is stored as float32. */
const ALPHA_SLACK = 1e-5
const PIECE_BYTES = 2 ** 20

const refuse = (detail: string): EngineError => new EngineError('adapter_refused', detail)

/**
 * Checks a LoRA adapter that came over the network, before llama.cpp opens it: the architecture of the base, nothing but
 * pairs of low-rank factors of its projections, their sizes, one rank, float16 or float32, every value finite.
 * @param base   header of the base model
 * @param shape  what was published about the adapter, if anything was
 * @throws EngineError `adapter_refused`, saying what is wrong
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
        if (bytesRead < length) throw refuse(`${path} became shorter`)
        if (!allFinite(piece.subarray(0, length), type))
          throw refuse(`${printable(name)} holds a value that is not finite`)
      }
    }
  } finally {
    await file.close()
  }
}

/** The same for a header, without the values. @throws EngineError `adapter_refused` */
export function checkAdapter(
  { metadata, tensors }: GgufHeader,
  base: GgufHeader,
  shape: AdapterShape | undefined,
): void {
  const architecture = base.metadata.get('general.architecture')
  if (metadata.get('general.architecture') !== architecture)
    throw refuse(`an adapter for another architecture than ${String(architecture)}`)
  if (metadata.get('general.type') !== 'adapter' || metadata.get('adapter.type') !== 'lora')
    throw refuse('this is no LoRA adapter')
  for (const key of metadata.keys()) {
    if (!key.startsWith('general.') && key !== 'adapter.type' && key !== 'adapter.lora.alpha')
      throw refuse(`the metadata ${printable(key)} has no place in a LoRA adapter`)
  }
  const modules = new Set<string>()
  let rank = 0
  for (const [name, factor] of tensors) {
    const [, weight, module, which] = FACTOR.exec(name) ?? []
    const adapted = weight === undefined ? undefined : base.tensors.get(weight)
    if (!adapted || module === undefined || !Object.values(PROJECTIONS).includes(module) || adapted.shape.length !== 2)
      throw refuse(`the tensor ${printable(name)} belongs to no projection of the base`)
    const other = tensors.get(`${weight}.lora_${which === 'a' ? 'b' : 'a'}`)
    if (!other) throw refuse(`the tensor ${printable(name)} lacks its other half`)
    rank ||= rankOf(factor, which)
    checkFactor(name, factor, which, adapted, rank)
    modules.add(module)
  }
  if (rank === 0) throw refuse('it adapts nothing')
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
  if (typeof alpha !== 'number' || !Number.isFinite(alpha) || alpha < 0) throw refuse(`an alpha of ${String(alpha)}`)
  if (!shape) return
  // Rank-stabilised LoRA divides by the root of the rank; llama.cpp cannot, so its alpha is stored larger.
  const published = [shape.alpha, shape.alpha * Math.sqrt(rank)]
  if (!published.some((value) => Math.abs(alpha - value) <= ALPHA_SLACK * value))
    throw refuse(`an alpha of ${alpha}, published was ${shape.alpha}`)
}

function checkShape(shape: AdapterShape, rank: number, modules: ReadonlySet<string>): void {
  if (shape.rank !== rank) throw refuse(`rank ${rank}, published was ${shape.rank}`)
  const published = new Set(
    shape.targetModules.map((name) => (Object.hasOwn(PROJECTIONS, name) ? PROJECTIONS[name] : name)),
  )
  if (published.size !== modules.size || [...modules].some((module) => !published.has(module)))
    throw refuse(`it adapts ${[...modules].join(', ')}, published was ${shape.targetModules.join(', ')}`)
}

/** Infinities and NaN have all exponent bits set. */
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
