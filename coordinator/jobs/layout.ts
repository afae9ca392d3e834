import { join } from 'node:path'

/**
 * Names in the spool, as both sides know them: the trainer has the same in prove_trainer/layout.py, and a test on either side
 * compares them with coordinator/trainer/contract.json.
 */

/** Of the JSON files that go to the trainer. */
export const SCHEMA = 1

export const FOLDERS = {
  batches: 'batches',
  steps: 'steps',
  audits: 'audits',
  tokenScores: 'token-scores',
  /** Of published versions, for audits: `<sha256>.gguf`. */
  adapters: 'adapters',
  /** Of ranks on several machines: their lease, and a folder of each life. */
  launch: 'launch',
} as const

export const FILES = {
  /** Of a batch, and of an audit. */
  manifest: 'manifest.json',
  tokens: 'tokens.safetensors',
  /** Beside the manifest: the Python side will never work on it. */
  refused: 'refused.json',
  /** Beside a batch's manifest: what an audit by its evidence has found. */
  findings: 'findings.json',
  step: 'step.json',
  /** What says to which audit the evidence beside it belongs. */
  answer: 'audit.json',
  tokenScores: 'token-scores.safetensors',
  /** Under `launch`: which life of the trainer may go on. */
  lease: 'lease.json',
  /** In the folder of a life: what its first rank says. */
  events: 'events.jsonl',
} as const

export const batchFolder = (jobs: string, batchId: string): string => join(jobs, FOLDERS.batches, batchId)
export const stepFolder = (jobs: string, step: number): string => join(jobs, FOLDERS.steps, `step-${step}`)
export const auditFolder = (jobs: string, auditId: string): string => join(jobs, FOLDERS.audits, auditId)
export const findingsFile = (jobs: string, batchId: string): string => join(batchFolder(jobs, batchId), FILES.findings)
export const batchTokenScoreFolder = (jobs: string, batchId: string): string =>
  join(batchFolder(jobs, batchId), FOLDERS.tokenScores)
export const leaseFile = (jobs: string): string => join(jobs, FOLDERS.launch, FILES.lease)
export const lifeFolder = (jobs: string, life: string): string => join(jobs, FOLDERS.launch, life)
export const tokenScoreFolder = (jobs: string, auditId: string): string => join(jobs, FOLDERS.tokenScores, auditId)
export const adaptersFolder = (jobs: string): string => join(jobs, FOLDERS.adapters)
export const adapterName = (sha256: string): string => `${sha256}.gguf`
