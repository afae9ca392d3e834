import { HERMES } from '../../rollout/episode/tool-call-formats/hermes.js'
import { openPolicy, type ServedPolicy } from '../../rollout/inference/index.js'
import { checkout } from './checkout.js'
import { patience } from './patience.js'

/** Opens the demo's model to be served: two answers at a time, on one CPU thread. */
export const openDemoPolicy = (): Promise<ServedPolicy> =>
  openPolicy(
    {
      name: 'demo',
      modelPath: `${checkout}/models/demo/prove-demo-base-f16.gguf`,
      adapter: null,
      toolCallFormat: HERMES,
      contextSize: 1024,
      slots: 2,
      threads: 1,
      gpu: false,
    },
    patience(),
  )
