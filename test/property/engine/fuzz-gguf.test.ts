import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkAdapter, checkAdapterFile } from '../../../rollout/engine/adapter-check.js'
import { EngineError } from '../../../rollout/engine/errors.js'
import { MAX_ADAPTER_HEADER_BYTES, readGguf } from '../../../rollout/engine/gguf.js'
import { readModelFile } from '../../../rollout/engine/gguf-file.js'
import { fixture } from '../../support/checkout.js'
import { Bytes, buildGguf, type Metadata, sourceOf, type TensorPlan } from '../../support/gguf-builder.js'
import { patience } from '../../support/patience.js'

const tiny = fixture('tiny')
const baseBytes = new Uint8Array(readFileSync(join(tiny, 'base.gguf')))
const adapterName = readdirSync(tiny).find((name) => name.startsWith('lora-'))!
const adapterBytes = new Uint8Array(readFileSync(join(tiny, adapterName)))
const base = readGguf(sourceOf(baseBytes), 'model')

const folder = mkdtempSync(join(tmpdir(), 'prove-gguf-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const fileOf = (bytes: Uint8Array): string => {
  const path = join(folder, `${files++}.gguf`)
  writeFileSync(path, bytes)
  return path
}

/** `accepted`, or the code of an EngineError; anything else passes through and fails the test. */
function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (why) {
    if (why instanceof EngineError) return why.code
    throw why
  }
  return 'accepted'
}
const refusalOf = (run: () => unknown): string => {
  try {
    run()
  } catch (why) {
    if (why instanceof EngineError) return why.detail
    throw why
  }
  return 'accepted'
}
const readAdapter = (bytes: Uint8Array): void => checkAdapter(readGguf(sourceOf(bytes), 'adapter'), base, undefined)

test('the base model and the adapter of the fixtures are accepted, from memory and from disk', async () => {
  readAdapter(adapterBytes)
  readModelFile(join(tiny, 'base.gguf'))
  await checkAdapterFile(join(tiny, adapterName), base, undefined, patience())
})

/** Offsets near the start of the file carry the counts and lengths; most bytes of the rest are values. */
const place = fc.oneof(fc.nat(600), fc.nat(adapterBytes.length - 1))
const mutation = fc.oneof(
  fc.tuple(fc.constant('flip' as const), place, fc.integer({ min: 1, max: 255 })),
  fc.tuple(fc.constant('cut' as const), place, fc.constant(0)),
  fc.tuple(fc.constant('double' as const), place, fc.nat(200)),
  fc.tuple(fc.constant('drop' as const), place, fc.integer({ min: 1, max: 200 })),
  fc.tuple(fc.constant('huge' as const), place, fc.constantFrom(0x7f, 0x80, 0xff)),
)
function mutated(bytes: Uint8Array, changes: readonly (readonly [string, number, number])[]): Uint8Array {
  let result = Uint8Array.from(bytes)
  for (const [kind, at, by] of changes) {
    if (kind === 'flip' && at < result.length) result[at]! ^= by
    else if (kind === 'huge') result.fill(by, at, at + 8)
    else if (kind === 'cut') result = result.slice(0, at)
    else if (kind === 'double') result = new Uint8Array(Buffer.concat([result.slice(0, at + by), result.slice(at)]))
    else if (kind === 'drop') result = new Uint8Array(Buffer.concat([result.slice(0, at), result.slice(at + by)]))
  }
  return result
}

test('a bent adapter is refused with its code, or is one whose tensors lie within the file', () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (changes) => {
      const bytes = mutated(adapterBytes, changes)
      const code = codeOf(() => {
        const header = readGguf(sourceOf(bytes), 'adapter')
        for (const { start, sizeBytes } of header.tensors.values()) assert.ok(start + sizeBytes <= bytes.length)
        checkAdapter(header, base, undefined)
      })
      assert.ok(code === 'accepted' || code === 'adapter_refused', code)
    }),
    { seed: 501, numRuns: 1500 },
  )
})

test('random bytes after a good start are refused with the code of the part they stand for', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(40), (bytes, start) => {
      const whole = new Uint8Array(Buffer.concat([adapterBytes.slice(0, start), bytes]))
      assert.is(
        codeOf(() => readAdapter(whole)),
        'adapter_refused',
      )
      assert.is(
        codeOf(() => readGguf(sourceOf(whole), 'model')),
        'model_refused',
      )
    }),
    { seed: 503, numRuns: 500 },
  )
})

test('no count or length makes the reader ask for more than its window, whatever it says', () => {
  for (const lie of [2 ** 31, 2 ** 32, 2 ** 53, 2n ** 63n, 2n ** 64n - 1n]) {
    const head = () => new Bytes().u32(0x46554747).u32(3)
    const files: Uint8Array[] = [
      head().u64(lie).u64(0).done(),
      head().u64(0).u64(lie).done(),
      head().u64(0).u64(1).u64(lie).done(),
      head().u64(0).u64(1).text('k').u32(8).u64(lie).done(),
      head().u64(0).u64(1).text('k').u32(9).u32(4).u64(lie).done(),
      head().u64(0).u64(1).text('k').u32(9).u32(8).u64(1).u64(lie).done(),
      head().u64(1).u64(0).u64(lie).done(),
      head().u64(1).u64(0).text('t').u32(1).u64(lie).u32(0).u64(0).done(),
      head().u64(1).u64(0).text('t').u32(1).u64(32).u32(0).u64(lie).done(),
    ]
    for (const bytes of files) {
      let most = 0
      // A file that claims to be as long as the lie, so that only the bounds can refuse it.
      const source = {
        sizeBytes: 2 ** 40,
        read: (start: number, length: number) => {
          most = Math.max(most, length)
          const window = new Uint8Array(length)
          window.set(bytes.subarray(start, start + length))
          return window
        },
      }
      assert.is(
        codeOf(() => readGguf(source, 'adapter')),
        'adapter_refused',
      )
      assert.ok(most <= 2 ** 20, `${most}`)
    }
  }
})

test('an endless list of empty texts ends at the bound of the header', () => {
  const count = Math.floor(MAX_ADAPTER_HEADER_BYTES / 8)
  const bytes = new Bytes().u32(0x46554747).u32(3).u64(0).u64(1).text('k').u32(9).u32(8).u64(count).done()
  const source = {
    sizeBytes: 2 ** 30,
    read: (start: number, length: number) => {
      const window = new Uint8Array(length)
      window.set(bytes.subarray(start, start + length))
      return window
    },
  }
  assert.match(
    refusalOf(() => readGguf(source, 'adapter')),
    /the header has more than 4194304 bytes/,
  )
})

const METADATA: Metadata = {
  'general.architecture': ['str', 'qwen3'],
  'general.type': ['str', 'adapter'],
  'adapter.type': ['str', 'lora'],
  'adapter.lora.alpha': ['f32', 8],
}
const WEIGHT = 'blk.0.attn_q.weight'
const [inner, outer] = base.tensors.get(WEIGHT)!.shape as [number, number]
const PAIR: Readonly<Record<string, TensorPlan>> = {
  [`${WEIGHT}.lora_a`]: { shape: [inner, 4] },
  [`${WEIGHT}.lora_b`]: { shape: [4, outer] },
}
const SHAPE = { rank: 4, alpha: 8, targetModules: ['q_proj'] }
const checked =
  (metadata: Metadata, tensors: Readonly<Record<string, TensorPlan>>, shape = SHAPE) =>
  () =>
    checkAdapter(readGguf(sourceOf(buildGguf(metadata, tensors)), 'adapter'), base, shape)
const without = <T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))

test('an adapter as published is accepted, rank-stabilised or not', () => {
  assert.is(codeOf(checked(METADATA, PAIR)), 'accepted')
  assert.is(codeOf(checked({ ...METADATA, 'adapter.lora.alpha': ['f32', 16] }, PAIR)), 'accepted')
})

const BAD: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    'for another architecture',
    checked({ ...METADATA, 'general.architecture': ['str', 'llama'] }, PAIR),
    /architecture/,
  ],
  ['without an architecture', checked(without(METADATA, 'general.architecture') as Metadata, PAIR), /architecture/],
  ['that is a model', checked({ ...METADATA, 'general.type': ['str', 'model'] }, PAIR), /not a LoRA/],
  ['of another kind', checked({ ...METADATA, 'adapter.type': ['str', 'control'] }, PAIR), /not a LoRA/],
  [
    'with instructions for llama.cpp',
    checked({ ...METADATA, 'adapter.alora.invocation_tokens': { ints: 3 } }, PAIR),
    /must not have/,
  ],
  ['with the settings of a model', checked({ ...METADATA, 'qwen3.block_count': ['u32', 2] }, PAIR), /must not have/],
  ['without alpha', checked(without(METADATA, 'adapter.lora.alpha') as Metadata, PAIR), /alpha/],
  ['with an alpha of NaN', checked({ ...METADATA, 'adapter.lora.alpha': ['f32', Number.NaN] }, PAIR), /alpha is NaN/],
  [
    'with an infinite alpha',
    checked({ ...METADATA, 'adapter.lora.alpha': ['f32', Number.POSITIVE_INFINITY] }, PAIR),
    /alpha is Inf/,
  ],
  [
    'with another alpha',
    checked({ ...METADATA, 'adapter.lora.alpha': ['f32', 9] }, PAIR),
    /published (alpha|one) is 8/,
  ],
  ['of another rank', checked(METADATA, PAIR, { ...SHAPE, rank: 8 }), /published (alpha|one) is 8/],
  ['of other modules', checked(METADATA, PAIR, { ...SHAPE, targetModules: ['k_proj'] }), /published was k_proj/],
  ['of fewer modules', checked(METADATA, PAIR, { ...SHAPE, targetModules: ['q_proj', 'k_proj'] }), /published/],
  ['of modules that objects have', checked(METADATA, PAIR, { ...SHAPE, targetModules: ['constructor'] }), /published/],
  ['of nothing', checked(METADATA, {}), /has no tensors/],
  ['with one half', checked(METADATA, without(PAIR, `${WEIGHT}.lora_b`)), /no second factor/],
  ['with a whole weight', checked(METADATA, { ...PAIR, [WEIGHT]: { shape: [inner, outer] } }), /no projection/],
  [
    'of the embedding',
    checked(METADATA, {
      'token_embd.weight.lora_a': { shape: [inner, 4] },
      'token_embd.weight.lora_b': { shape: [4, outer] },
    }),
    /no projection/,
  ],
  [
    'of a norm',
    checked(METADATA, { ...PAIR, 'blk.0.attn_norm.weight.lora_a': { shape: [inner, 4] } }),
    /no projection/,
  ],
  [
    'of a block that is not there',
    checked(METADATA, {
      'blk.900.attn_q.weight.lora_a': { shape: [inner, 4] },
      'blk.900.attn_q.weight.lora_b': { shape: [4, outer] },
    }),
    /no projection/,
  ],
  ['with a name from a path', checked(METADATA, { ...PAIR, '../../etc/passwd': { shape: [4] } }), /no projection/],
  ['too narrow', checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_a`]: { shape: [inner - 1, 4] } }), /not \d+ x 4/],
  ['too wide', checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_b`]: { shape: [4, outer + 1] } }), /not 4 x/],
  ['of two ranks', checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_b`]: { shape: [5, outer] } }), /not 4 x/],
  [
    'of a rank beyond the limit',
    checked(METADATA, {
      [`${WEIGHT}.lora_a`]: { shape: [inner, 4097] },
      [`${WEIGHT}.lora_b`]: { shape: [4097, outer] },
    }),
    /4097/,
  ],
  ['with three dimensions', checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_a`]: { shape: [inner, 4, 1] } }), /x 1, not/],
  [
    'in integers',
    checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_a`]: { shape: [inner, 4], type: 25 } }),
    /neither float16/,
  ],
  [
    'whose tensors overlap',
    checked(METADATA, { ...PAIR, [`${WEIGHT}.lora_b`]: { shape: [4, outer], offset: 0 } }),
    /begins at 0/,
  ],
  [
    'whose tensors leave the file',
    () => readAdapter(buildGguf(METADATA, PAIR).slice(0, -32)),
    /ends within the tensor/,
  ],
  ['of version 1', () => readAdapter(buildGguf(METADATA, PAIR, 1)), /version is 1/],
  ['of version 4', () => readAdapter(buildGguf(METADATA, PAIR, 4)), /version is 4/],
  ['with an alignment of 0', checked({ ...METADATA, 'general.alignment': ['u32', 0] }, PAIR), /alignment is 0/],
  ['with an odd alignment', checked({ ...METADATA, 'general.alignment': ['u32', 33] }, PAIR), /alignment is 33/],
  ['with a vast alignment', checked({ ...METADATA, 'general.alignment': ['u32', 2 ** 31] }, PAIR), /alignment/],
]
for (const [what, run, reason] of BAD) {
  test(`an adapter ${what} is refused before llama.cpp sees it`, () => {
    assert.is(codeOf(run), 'adapter_refused')
    assert.match(refusalOf(run), reason)
  })
}

test('a value that is not finite is found wherever it is, in float16 and in float32', async () => {
  const halves = new Uint16Array(inner * 4)
  const singles = new Uint32Array(4 * outer)
  const plan = (): Record<string, TensorPlan> => ({
    [`${WEIGHT}.lora_a`]: { shape: [inner, 4], data: new Uint8Array(halves.slice().buffer) },
    [`${WEIGHT}.lora_b`]: { shape: [4, outer], type: 0, data: new Uint8Array(singles.slice().buffer) },
  })
  const outcome = async (): Promise<string> => {
    try {
      await checkAdapterFile(fileOf(buildGguf(METADATA, plan())), base, SHAPE, patience())
      return 'accepted'
    } catch (why) {
      if (why instanceof EngineError) return why.detail
      throw why
    }
  }
  // The largest finite values, the smallest ones and negative zero.
  halves.set([0x7bff, 0xfbff, 0x0001, 0x8000])
  singles.set([0x7f7fffff, 0xff7fffff, 0x00000001, 0x80000000])
  assert.is(await outcome(), 'accepted')
  for (const [list, bits] of [
    [halves, [0x7c00, 0xfc00, 0x7e00, 0x7c01]],
    [singles, [0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001]],
  ] as const) {
    for (const value of bits) {
      for (const at of [0, 7, list.length - 1]) {
        const kept = list[at]!
        list[at] = value
        assert.match(await outcome(), /not finite/)
        list[at] = kept
      }
    }
  }
})

test('an abort ends the check of the values', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'))
  await checkAdapterFile(join(tiny, adapterName), base, undefined, stopped).then(
    () => assert.unreachable(),
    (why: Error) => assert.is(why.message, 'stopped'),
  )
})

const MODEL: Metadata = {
  'general.architecture': ['str', 'qwen3'],
  'tokenizer.chat_template': ['str', '{{ messages }}'],
  'tokenizer.ggml.tokens': { strings: ['a', 'b'] },
  'tokenizer.ggml.token_type': { ints: 2 },
}
const model = (metadata: Metadata) => () =>
  readModelFile(fileOf(buildGguf(metadata, { 'token_embd.weight': { shape: [2] } })))
const BAD_MODELS: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['without an architecture', model(without(MODEL, 'general.architecture') as Metadata), /no architecture/],
  ['with a number for an architecture', model({ ...MODEL, 'general.architecture': ['u32', 1] }), /no architecture/],
  ['without a chat template', model(without(MODEL, 'tokenizer.chat_template') as Metadata), /no chat template/],
  [
    'with a vast chat template',
    model({ ...MODEL, 'tokenizer.chat_template': ['str', 'x'.repeat(256 * 1024 + 1)] }),
    /262145 characters/,
  ],
  ['in several files', model({ ...MODEL, 'split.count': ['u32', 2] }), /several files/],
  ['without a vocabulary', model({ ...MODEL, 'tokenizer.ggml.tokens': { strings: [] } }), /0 tokens/],
  [
    'with fewer types than tokens',
    model({ ...MODEL, 'tokenizer.ggml.token_type': { ints: 1 } }),
    /2 tokens and 1 token types/,
  ],
  ['that is a folder', () => readModelFile(folder), /not a file|EISDIR/],
  ['that is missing', () => readModelFile(join(folder, 'gone')), /ENOENT/],
  ['that is empty', () => readModelFile(fileOf(new Uint8Array())), /ends within its header/],
]
for (const [what, run, reason] of BAD_MODELS) {
  test(`a base model ${what} is refused before llama.cpp sees it`, () => {
    assert.is(codeOf(run), 'model_refused')
    assert.match(refusalOf(run), reason)
  })
}

test('a small base model in order is accepted', () => {
  assert.is(codeOf(model(MODEL)), 'accepted')
})

test.run()
