import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { interfaceOf, passedOverLine } from '../../../rollout/engine/backend.js'
import { crashReason } from '../../../rollout/engine/crash-reason.js'

const LIBRARY = '/opt/prove/node_modules/@node-llama-cpp/linux-x64-cuda/bins/linux-x64-cuda/libggml-cuda.so'
/** As an H100 with a driver for CUDA 13.0 ended a build for 13.1: two threads write at once. */
const CUDA = `_cuda_contextP11ggml_tensorS2_+0x1ca)[0x7f729ee65f1a]
${LIBRARY}(+0x2c1483)[0x7f729ecc1483]
/opt/prove/node_modules/@node-llama-cpp/linux-x64-cuda/bins/linux-x64-cuda/libllama.cuda.v0.5.0.so(llama_decode+0x10)[0x7f72a7df2180]
CUDA error: the provided PTX was compiled with an unsupported toolchain.
  current device: 0, in function ggml_cuda_kernel_can_use_pdl at ggml/src/ggml-cuda/common.cuh:1679
  cudaFuncGetAttributes(&attr, kernel)
/usr/local/bin/node(_ZZN4node14ThreadPoolWork12ScheduleWorkEvENUlP9uv_work_sE_4_FUNES2_+0x59)[0xc71349]
/usr/local/bin/node[0x18a7b40]
/lib/x86_64-linux-gnu/libc.so.6(+0x9cb84)[0x7f72ed29cb84]
`

test('a crash is reported with its reason and without the stack', () => {
  assert.is(crashReason(CUDA), 'CUDA error: the provided PTX was compiled with an unsupported toolchain.')
  assert.is(
    crashReason(`GGML_ASSERT(ne == 1) failed\n${LIBRARY}(+0x2c1483)[0x7f729ecc1483]\n`),
    'GGML_ASSERT(ne == 1) failed',
  )
})

test('without a known reason, all lines but the stack are reported', () => {
  assert.is(crashReason('one\n\n  two\n/usr/bin/node[0x18a7b40]\n'), 'one; two')
  assert.is(crashReason(''), '')
})

test('a model without layers on a device uses no GPU interface, and Mesa’s on a CPU is Vulkan', () => {
  assert.is(interfaceOf({ device: 'cuda', layers: 0 }), null)
  assert.is(interfaceOf({ device: 'cpu', layers: 0 }), null)
  assert.is(interfaceOf({ device: 'cuda', layers: 3 }), 'cuda')
  assert.is(interfaceOf({ device: 'lavapipe', layers: 3 }), 'vulkan')
})

test('the warning about an unused GPU gives the reason', () => {
  const line = passedOverLine({ by: 'cuda', why: `ended by SIGABRT: ${crashReason(CUDA)}` })
  assert.match(line, /^the GPU is not used through cuda.*ended by SIGABRT: CUDA error: the provided PTX/)
})

test.run()
