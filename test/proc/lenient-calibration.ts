import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DRAW } from '../../rollout/engine/index.js'
import type { Calibration } from '../../rollout/verification/index.js'
import { LOGIT_ERROR_EDGES } from '../../rollout/verification/logit-error-tail.js'
import { demoModel } from '../support/programs.js'

/** A hundred times what honest groups of the demo model show: these tests are about what is lost, not about who lies. */
const LIMITS = {
  deviation: { usual: 1, within: 0, between: 0 },
  bias: { usual: 1, within: 0, between: 0 },
  farClaim: 5,
  grossClaim: 50,
  farClaimRate: 1,
  logitError: 2,
  missRate: 1,
  farLogitError: 5,
  grossLogitError: 50,
  farLogitErrorRate: 1,
}

/** By which every group is audited and every honest one passes. */
export const LENIENT: Pick<Calibration, 'thresholds' | 'logitErrorTail'> = {
  thresholds: { level: 1e-9, all: LIMITS, arguments: LIMITS },
  logitErrorTail: LOGIT_ERROR_EDGES.map(() => 1),
}

/** Writes a calibration under which every group is audited and every honest one passes. */
export function writeLenientCalibration(file: string): void {
  const baseSha256 = createHash('sha256').update(readFileSync(demoModel())).digest('hex')
  const none = { count: 0, of: 2, share: 0, low: 0, high: 1 }
  const calibration: Calibration = {
    schema: 5,
    subject: {
      ...{ baseSha256, adapters: [], quantisation: 'f16', backend: 'cpu' },
      ...{ draw: DRAW, nodeLlamaCpp: '3.22.1' },
    },
    groups: 2,
    sampledTokens: 1000,
    ...LENIENT,
    canary: null,
    honest: { 'mean logit error, nats': { '0.5': 0.02, max: 2 } },
    falseRefusals: { goal: 0.005, confidence: 0.95, measured: none, byCode: {} },
  }
  writeFileSync(file, JSON.stringify(calibration))
}
