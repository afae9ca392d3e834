import { createLogUpdate } from 'log-update'
import { type Price, saidTokens } from '../common/cli/index.js'
import type { Drops } from '../tasks/dataset/index.js'
import type { ParaphraserReport } from '../tasks/synthesis/index.js'

/** Creates a progress line that is redrawn on a terminal, and printed once per tenth elsewhere. */
export function createSynthesisProgress() {
  const screen = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined
  const started = performance.now()
  let tenths = -1
  let since: number | undefined
  const draw = (line: string, share: number): void => {
    if (screen) screen(line)
    else if (Math.floor(10 * share) > tenths) {
      tenths = Math.floor(10 * share)
      process.stderr.write(`${line}\n`)
    }
  }
  return {
    show({ kept, wanted, drops }: { readonly kept: number; readonly wanted: number; readonly drops: Drops }): void {
      const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
      const seconds = (performance.now() - started) / 1000
      const line = `${bar(kept / wanted)} ${kept} of ${wanted} examples, ${dropped} candidates dropped, ${seconds.toFixed(0)} s`
      draw(line, kept / wanted)
    },
    /** Shows the paraphraser's progress, usage, cost if the price is known, and remaining time. */
    showRephrased(report: ParaphraserReport, wanted: number, price: Price | undefined): void {
      if (since === undefined) [since, tenths] = [performance.now(), -1]
      draw(rephrasingLine(report, wanted, price, (performance.now() - since) / 1000), report.examples / wanted)
    },
    say(text: string): void {
      screen?.done()
      process.stderr.write(`${text}\n`)
    },
    close: () => screen?.done(),
  }
}

/** Returns `######## 120 of 500 examples rephrased (96 reworded, 24 kept), 310 requests, 402,000 + 61,000 tokens, 0.24, 12 min left`. */
export function rephrasingLine(
  { examples, rephrased, kept, fromCache, requests, ...tokens }: ParaphraserReport,
  wanted: number,
  price: Price | undefined,
  seconds: number,
): string {
  const count = (value: number): string => value.toLocaleString('en-US')
  // Cached examples take no time, so the estimate ignores them.
  const uncached = examples - fromCache
  const left = uncached === 0 ? '' : `, ${count(Math.ceil(((seconds / uncached) * (wanted - examples)) / 60))} min left`
  return `${bar(examples / wanted)} ${examples} of ${wanted} examples rephrased (${rephrased} reworded, ${kept} kept), ${count(requests)} requests, ${saidTokens(tokens, price)}${left}`
}

const WIDTH = 24
const bar = (share: number): string => '█'.repeat(Math.floor(WIDTH * share)).padEnd(WIDTH, '░')
