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
  evidence: 'evidence',
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
  evidence: 'evidence.safetensors',
  /** Under `launch`: which life of the trainer may go on. */
  lease: 'lease.json',
  /** In the folder of a life: what its first rank says. */
  events: 'events.jsonl',
} as const

export const batchFolder = (spool: string, batchId: string): string => join(spool, FOLDERS.batches, batchId)
export const stepFolder = (spool: string, step: number): string => join(spool, FOLDERS.steps, `step-${step}`)
export const auditFolder = (spool: string, auditId: string): string => join(spool, FOLDERS.audits, auditId)
export const findingsFile = (spool: string, batchId: string): string =>
  join(batchFolder(spool, batchId), FILES.findings)
export const batchEvidenceFolder = (spool: string, batchId: string): string =>
  join(batchFolder(spool, batchId), FOLDERS.evidence)
export const leaseFile = (spool: string): string => join(spool, FOLDERS.launch, FILES.lease)
export const lifeFolder = (spool: string, life: string): string => join(spool, FOLDERS.launch, life)
export const evidenceFolder = (spool: string, auditId: string): string => join(spool, FOLDERS.evidence, auditId)
export const adaptersFolder = (spool: string): string => join(spool, FOLDERS.adapters)
export const adapterName = (sha256: string): string => `${sha256}.gguf`
