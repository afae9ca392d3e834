import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  backendName,
  cacheTypeOf,
  calibratedName,
  deviceKind,
  type Placement,
} from '../../../rollout/engine/backend.js'
import { type Bytes, type Estimate, fitInto } from '../../../rollout/engine/fit.js'

const GIB = 2 ** 30
/** A model of 36 layers of 200 MiB, whose cache takes 48 MiB per layer and slot; buffers of 300 MiB where it computes. */
const estimate: Estimate = async (layers, slots) => {
  const layer = 200 * 2 ** 20 + slots * 48 * 2 ** 20
  const buffers = 300 * 2 ** 20
  return {
    main: (36 - layers) * layer + (layers === 0 ? buffers : 0),
    gpu: layers * layer + (layers > 0 ? buffers : 0),
  }
}
const fit = async (capacity: Bytes, layers = 36, slots = 16) => {
  const chosen = await fitInto(capacity, { layers, slots }, estimate)
  return [chosen.layers, chosen.slots]
}

test('what fits is chosen as it was wanted', async () => {
  assert.equal(await fit({ main: GIB, gpu: 80 * GIB }), [36, 16])
  assert.equal(await fit({ main: 64 * GIB, gpu: 0 }, 0), [0, 16])
})

test('slots are reduced before a layer leaves the device, and layers leave it before the model is refused', async () => {
  assert.equal(await fit({ main: 64 * GIB, gpu: 16 * GIB }), [36, 5])
  assert.equal(await fit({ main: 64 * GIB, gpu: 9.1 * GIB }), [36, 1])
  const [layers, slots] = await fit({ main: 64 * GIB, gpu: 5 * GIB })
  assert.ok(layers! > 15 && layers! < 36)
  assert.is(slots, 1)
  assert.equal(await fit({ main: 12 * GIB, gpu: 0.1 * GIB }), [0, 2])
})

test('nothing is chosen that takes more than there is, and one more would not fit', async () => {
  for (let gpu = 0; gpu < 40; gpu += 0.7) {
    const capacity = { main: 10 * GIB, gpu: gpu * GIB }
    const { layers, slots, needs } = await fitInto(capacity, { layers: 36, slots: 16 }, estimate)
    assert.equal(needs, await estimate(layers, slots))
    assert.ok(needs.main <= capacity.main && needs.gpu <= capacity.gpu)
    const { main, gpu: more } = await estimate(layers, slots + 1)
    if (slots < 16) assert.ok(main > capacity.main || more > capacity.gpu)
  }
})

test('without memory for one slot, the error states the needed memory', async () => {
  const refused = await fit({ main: 2 * GIB, gpu: 0 }, 0).catch((error) => error)
  assert.is(refused.code, 'model_refused')
  assert.match(refused.message, /needs 9228 MiB of main memory for one rollout, 2048 MiB are available/)
})

test('a backend is named by what computes, and a device that computes nothing is not named', () => {
  const placement: Placement = {
    ...{ device: 'cuda', deviceNames: ['H200'], layers: 37, allLayers: 37, flashAttention: true },
    cacheType: 'f16',
    ...{ slots: 16, contextSize: 1024, mainBytes: 0, gpuBytes: 0 },
  }
  assert.is(backendName(placement), 'cuda-flash')
  assert.is(backendName({ ...placement, flashAttention: false }), 'cuda')
  assert.is(backendName({ ...placement, layers: 36 }), 'cuda-part-flash')
  assert.is(backendName({ ...placement, device: 'vulkan', layers: 0, flashAttention: false }), 'cpu')
  const small: Placement = { ...placement, cacheType: 'q8_0' }
  assert.is(backendName(small), 'cuda-flash-q8_0')
  assert.is(backendName({ ...small, layers: 0 }), 'cpu-flash-q8_0')
  for (const one of [placement, small])
    assert.is(cacheTypeOf(calibratedName({ backend: backendName(one), nodeLlamaCpp: '3.22.1' })), one.cacheType)
  assert.is(deviceKind('vulkan', ['llvmpipe (LLVM 15.0.6, 256 bits)']), 'lavapipe')
  assert.is(deviceKind('vulkan', ['NVIDIA H200']), 'vulkan')
})

test.run()
