import { createLogUpdate } from 'log-update'
import { type Price, saidTokens } from '../common/cli/index.js'
import { type Profile, percent, quotasOf } from '../tasks/dataset/index.js'
import type { ParaphraserReport, Progress } from '../tasks/synthesis/index.js'

/** Creates a progress line that is redrawn on a terminal, and printed once per tenth elsewhere. */
export function createSynthesisProgress(profile: Profile) {
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
    /** Shows the examples so far with the time left, the objections that drop most, and the quotas that are off. */
    show(progress: Progress): void {
      const seconds = (performance.now() - started) / 1000
      draw(synthesisLine(progress, profile, seconds), progress.kept / progress.wanted)
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

/** Objections and quotas of one line. */
const SHOWN = 3

/**
 * Returns `######## 120 of 500 examples, 3.1 candidates dropped for each, about 40 s left; most by no_walk 210, errand 31; off: chain of 5 tools
 * 9.0 % for 13.0 %`.
 */
export function synthesisLine(
  { kept, wanted, drops, statistics }: Progress,
  profile: Profile,
  seconds: number,
): string {
  const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
  const most = Object.entries(drops)
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, count]) => `${name} ${count}`)
  const distance = ({ asked, got }: { readonly asked: number; readonly got: number }): number =>
    Math.abs(got - asked) / Math.max(asked, 0.01)
  const off = Object.entries(quotasOf(profile, statistics))
    .filter(([, quota]) => distance(quota) > 0.1)
    .sort(([, a], [, b]) => distance(b) - distance(a))
    .slice(0, SHOWN)
    .map(([name, { asked, got }]) => `${name} ${percent(got)} for ${percent(asked)}`)
  const left = kept === 0 || kept === wanted ? '' : `, about ${Math.ceil((seconds / kept) * (wanted - kept))} s left`
  return [
    `${bar(kept / wanted)} ${kept} of ${wanted} examples, ${(dropped / Math.max(1, kept)).toFixed(1)} candidates dropped for each${left}`,
    ...(most.length > 0 ? [`most by ${most.join(', ')}`] : []),
    ...(off.length > 0 ? [`off: ${off.join(', ')}`] : []),
  ].join('; ')
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
