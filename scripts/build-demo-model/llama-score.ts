/**
 * Scores sequences and tokenises texts with the node's engine, for comparison with torch.
 * Standard input: `{"sequences": number[][], "texts": string[]}`; standard output: `{"logprobs": number[][], "ids": number[][]}`,
 * a log-probability (nats) for every token but the first, and the texts' ids with control tokens recognised.
 */
import { text } from 'node:stream/consumers'
import { openEngine, openTokenizer } from '../../rollout/engine/index.js'

const [modelPath] = process.argv.slice(2)
if (modelPath === undefined) throw new Error('usage: llama-score.ts <model.gguf>')
const { sequences, texts } = JSON.parse(await text(process.stdin)) as { sequences: number[][]; texts: string[] }
const signal = AbortSignal.timeout(120_000)

const tokenizer = await openTokenizer(modelPath)
const ids = texts.map((line) => tokenizer.tokenize(line, true))
await tokenizer.close()

const logprobs: number[][] = []
if (sequences.length > 0) {
  const contextSize = Math.max(256, ...sequences.map((sequence) => sequence.length))
  const engine = await openEngine({ modelPath, threads: 1, contextSize, slots: 1, gpu: false })
  try {
    for (const sequence of sequences) logprobs.push(await engine.score(sequence, 1, signal))
  } finally {
    await engine.close()
  }
}
process.stdout.write(JSON.stringify({ logprobs, ids }))
