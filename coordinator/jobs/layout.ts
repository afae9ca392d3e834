import { join } from 'node:path'

// Names in the job directory. prove_trainer/layout.py has the same names, and a test on either side compares them with
// coordinator/trainer/contract.json.

/** Version of the JSON files for the trainer. */
export const SCHEMA = 1

export const FOLDERS = {
  batches: 'batches',
  steps: 'steps',
  audits: 'audits',
  tokenScores: 'token-scores',
  /** Published adapters for audits: `<sha256>.gguf`. */
  adapters: 'adapters',
  /** Ranks on several machines: their lease, and a folder of each life. */
  launch: 'launch',
} as const

export const FILES = {
  /** Manifest of a batch, and of an audit. */
  manifest: 'manifest.json',
  tokens: 'tokens.safetensors',
  /** Next to the manifest: Python has refused the job for good. */
  refused: 'refused.json',
  /** Next to the manifest of a batch: findings of the audit by its token scores. */
  findings: 'findings.json',
  step: 'step.json',
  /** Names the audit to which the token scores belong. */
  answer: 'audit.json',
  tokenScores: 'token-scores.safetensors',
  /** In `launch`: the life of the trainer that may run. */
  lease: 'lease.json',
  /** In the folder of a life: events of its first rank. */
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
