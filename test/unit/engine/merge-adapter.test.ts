import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EngineError } from '../../../rollout/engine/errors.js'
import { GGML_BF16, GGML_F16, GGML_F32 } from '../../../rollout/engine/gguf.js'
import { readGgufFile } from '../../../rollout/engine/gguf-file.js'
import { fromBfloat, fromHalf, toBfloat, toHalf } from '../../../rollout/engine/half-floats.js'
import { mergeAdapter } from '../../../rollout/engine/merge-adapter.js'
import { buildGguf, type TensorPlan } from '../../support/gguf-builder.js'

const { signal } = new AbortController()
const folder = await mkdtemp(join(tmpdir(), 'prove-merge-'))
test.after(() => rm(folder, { recursive: true, force: true }))

const [WIDTH, ROWS, RANK, ALPHA] = [32, 6, 2, 8]
const wave = (length: number, step: number): number[] => Array.from({ length }, (_, i) => Math.sin(i * step))
const WEIGHTS = wave(WIDTH * ROWS, 0.7)
const A = wave(WIDTH * RANK, 1.3)
const B = wave(RANK * ROWS, 2.1)
const KIND: Readonly<
  Record<number, readonly [bytes: number, put: (view: DataView, at: number, value: number) => void]>
> = {
  [GGML_F32]: [4, (view, at, value) => view.setFloat32(at, value, true)],
  [GGML_F16]: [2, (view, at, value) => view.setUint16(at, toHalf(value), true)],
  [GGML_BF16]: [2, (view, at, value) => view.setUint16(at, toBfloat(value), true)],
}

const dataOf = (values: readonly number[], type: number): Uint8Array => {
  const [bytes, put] = KIND[type]!
  const view = new DataView(new ArrayBuffer(values.length * bytes))
  for (const [i, value] of values.entries()) put(view, i * bytes, value)
  return new Uint8Array(view.buffer)
}

async function files(weights: TensorPlan, alpha = ALPHA, b = B) {
  const common = { 'general.architecture': ['str', 'qwen3'] } as const
  const strings = ['a', 'b']
  const base = buildGguf(
    {
      ...common,
      'tokenizer.chat_template': ['str', 'x'],
      'tokenizer.ggml.tokens': { strings },
      'tokenizer.ggml.token_type': { ints: strings.length },
    },
    {
      'token_embd.weight': { shape: [WIDTH, 2], type: GGML_F32, data: dataOf(wave(WIDTH * 2, 3), GGML_F32) },
      'blk.0.attn_q.weight': weights,
      'output_norm.weight': { shape: [WIDTH], type: GGML_F32, data: dataOf(wave(WIDTH, 5), GGML_F32) },
    },
  )
  const adapter = buildGguf(
    {
      ...common,
      'general.type': ['str', 'adapter'],
      'adapter.type': ['str', 'lora'],
      'adapter.lora.alpha': ['f32', alpha],
    },
    {
      'blk.0.attn_q.weight.lora_a': { shape: [WIDTH, RANK], type: GGML_F32, data: dataOf(A, GGML_F32) },
      'blk.0.attn_q.weight.lora_b': { shape: [RANK, ROWS], type: GGML_F32, data: dataOf(b, GGML_F32) },
    },
  )
  const paths = {
    base: join(folder, 'base.gguf'),
    adapter: join(folder, 'lora.gguf'),
    merged: join(folder, 'merged.gguf'),
  }
  await writeFile(paths.base, base)
  await writeFile(paths.adapter, adapter)
  await rm(paths.merged, { force: true })
  return paths
}

const plan = (type: number): TensorPlan => ({ shape: [WIDTH, ROWS], type, data: dataOf(WEIGHTS, type) })

const refusal = async (paths: Awaited<ReturnType<typeof files>>): Promise<string> => {
  const error = await mergeAdapter(paths, undefined, signal).catch((why: unknown) => why)
  assert.instance(error, EngineError)
  assert.not.ok(
    (await readdir(folder)).some((name) => name.startsWith('merged')),
    'nothing is left of it',
  )
  return (error as EngineError).code
}

test('every weight is the base’s and the adapter’s share, in the type of the base, and nothing else changes', async () => {
  for (const [type, bytes, read, precision] of [
    [GGML_F32, 4, (view: DataView, at: number) => view.getFloat32(at, true), 2 ** -23],
    [GGML_F16, 2, (view: DataView, at: number) => fromHalf(view.getUint16(at, true)), 2 ** -10],
    [GGML_BF16, 2, (view: DataView, at: number) => fromBfloat(view.getUint16(at, true)), 2 ** -7],
  ] as const) {
    const paths = await files(plan(type))
    await mergeAdapter(paths, undefined, signal)
    const [before, after] = [await readFile(paths.base), await readFile(paths.merged)]
    const { start, sizeBytes } = readGgufFile(paths.merged, 'model').tensors.get('blk.0.attn_q.weight')!
    assert.equal(after.subarray(0, start), before.subarray(0, start))
    assert.equal(after.subarray(start + sizeBytes), before.subarray(start + sizeBytes))
    const [was, is] = [before, after].map((file) => new DataView(file.buffer, file.byteOffset + start, sizeBytes))
    for (let i = 0; i < WIDTH * ROWS; i++) {
      const [row, column] = [Math.floor(i / WIDTH), i % WIDTH]
      let wanted = read(was!, i * bytes)
      for (let k = 0; k < RANK; k++)
        wanted += (ALPHA / RANK) * Math.fround(B[row * RANK + k]!) * Math.fround(A[k * WIDTH + column]!)
      const error = Math.abs(read(is!, i * bytes) - wanted)
      assert.ok(error <= (Math.abs(wanted) + 2 ** -14) * precision, `type ${type}, weight ${i}: off by ${error}`)
    }
  }
})

test('an adapter without an alpha counts once, as in llama.cpp', async () => {
  const paths = await files(plan(GGML_F32), 0)
  await mergeAdapter(paths, undefined, signal)
  const { start } = readGgufFile(paths.merged, 'model').tensors.get('blk.0.attn_q.weight')!
  const wanted = WEIGHTS[0]! + B[0]! * A[0]! + B[1]! * A[WIDTH]!
  assert.ok(Math.abs((await readFile(paths.merged)).readFloatLE(start) - wanted) < 1e-6)
})

test('a quantised base is refused, and so are weights that grow beyond their type', async () => {
  const quantised = { shape: [WIDTH, ROWS], type: 8, data: new Uint8Array(ROWS * 34) }
  assert.is(await refusal(await files(quantised)), 'model_refused')
  assert.is(
    await refusal(
      await files(
        plan(GGML_F16),
        ALPHA,
        B.map((value) => value * 1e5),
      ),
    ),
    'adapter_refused',
  )
})

test('16 bits are read and written as everybody does, ties to even, up to what they hold', () => {
  for (let bits = 0; bits < 2 ** 16; bits++) {
    if (!Number.isNaN(fromHalf(bits))) assert.is(toHalf(fromHalf(bits)), bits)
    if (!Number.isNaN(fromBfloat(bits))) assert.is(toBfloat(fromBfloat(bits)), bits)
  }
  const halves = [
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519, 0x7bff],
    [65520, 0x7c00],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2 ** -24, 1],
    [2 ** -25, 0],
    [1.5 * 2 ** -24, 2],
  ] as const
  for (const [value, bits] of halves) assert.is(toHalf(value), bits, String(value))
  assert.is(toBfloat(1 + 2 ** -8), 0x3f80)
  assert.is(toBfloat(1 + 3 * 2 ** -8), 0x3f82)
})

test.run()
