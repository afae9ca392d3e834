import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDrawTable, noiseOf, selectAmong } from '../../../rollout/engine/gumbel-max.js'
import type { Draw, Token } from '../../../rollout/engine/types.js'
import { seededRandom } from '../../../servers/kernel/index.js'

/**
 * How often errors of the logits change what is drawn, and how often somebody could choose what is drawn by pretending
 * such errors: by the draw of rollout/engine/gumbel-max.ts, and by a walk over the tokens from the likeliest down.
 */
const test = suite('near ties')

const VOCABULARY = 2000
const DRAWS = 4000
/** Draws under one set of errors. */
const BLOCK = 100
/** Nats; largest error of any logit. */
const ERROR = 0.002

const random = seededRandom(20261122)
const unit = (): number => (random.int(0, 2 ** 30) + 0.5) / (2 ** 30 + 1)
const normal = (): number => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit())

type Sorted = readonly (readonly [Token, number])[]
const descending = (logits: readonly number[]): Sorted => [...logits.entries()].sort(([, a], [, b]) => b - a)

interface Shares {
  /** Of draws that select another token under the errors. */
  readonly missed: number
  /** Of draws that errors no larger could change, one way or another. */
  readonly steerable: number
}

type Outcome = readonly [missed: boolean, steerable: boolean]

/** The walk: a number from 0 to 1 selects the token in whose part of the probability it falls. */
interface Walk {
  readonly tokens: readonly Token[]
  /** Mass up to and with each token. */
  readonly edges: readonly number[]
}

function walkOf(logits: Sorted): Walk {
  const top = logits[0]![1]
  let mass = 0
  const edges = logits.map(([, logit]) => {
    mass += Math.exp(logit - top)
    return mass
  })
  return { tokens: logits.map(([token]) => token), edges: edges.map((edge) => edge / mass) }
}

function byWalk(own: Walk, disturbed: Walk, u: number): Outcome {
  const place = own.edges.findIndex((edge) => u < edge)
  const missed = disturbed.tokens[disturbed.edges.findIndex((edge) => u < edge)] !== own.tokens[place]
  // A boundary with the mass M before it moves by 2 e M (1 - M) at most.
  const near = (boundary: number): boolean => Math.abs(u - boundary) <= 2 * ERROR * boundary * (1 - boundary)
  return [missed, near(own.edges[place - 1] ?? 0) || near(own.edges[place]!)]
}

const table = createDrawTable(VOCABULARY)

function byDraw(own: Sorted, disturbed: Sorted, draw: Draw): Outcome {
  const noise = table.noise(draw)
  const token = selectAmong(noise, own)
  const others = own.filter(([other]) => other !== token)
  const next = selectAmong(noise, others)
  const score = (of: Token): number => own.find(([other]) => other === of)![1] + noiseOf(draw, of)
  return [selectAmong(noise, disturbed) !== token, score(token) - score(next) <= 2 * ERROR]
}

/** @param spread  standard deviation of the logits: large ones make a policy sure */
function simulate(spread: number): { readonly walked: Shares; readonly drawn: Shares } {
  const counts = { walked: [0, 0], drawn: [0, 0] }
  for (let block = 0; block < DRAWS / BLOCK; block++) {
    const own = Array.from({ length: VOCABULARY }, () => spread * normal())
    const logits = descending(own)
    const disturbed = descending(own.map((logit) => logit + ERROR * (2 * unit() - 1)))
    const walks = [walkOf(logits), walkOf(disturbed)] as const
    for (let position = 0; position < BLOCK; position++) {
      const outcomes = {
        walked: byWalk(...walks, unit()),
        drawn: byDraw(logits, disturbed, { seed: block, position }),
      }
      for (const name of ['walked', 'drawn'] as const) {
        for (const [k, happened] of outcomes[name].entries()) counts[name][k]! += Number(happened)
      }
    }
  }
  const shares = ([missed, steerable]: readonly number[]): Shares => ({
    missed: missed! / DRAWS,
    steerable: steerable! / DRAWS,
  })
  return { walked: shares(counts.walked), drawn: shares(counts.drawn) }
}

test('a draw depends on the two best tokens alone, so hardly any is within reach of an error, however unsure the policy', () => {
  const sure = simulate(6)
  const unsure = simulate(1.5)
  // Two best scores within 2 e of each other have at most the chance 2 e; four standard deviations are let pass.
  const most = 2 * ERROR + 4 * Math.sqrt((2 * ERROR) / DRAWS)
  for (const { walked, drawn } of [sure, unsure]) {
    assert.ok(drawn.steerable <= most, `${drawn.steerable}`)
    assert.ok(drawn.missed <= drawn.steerable)
    assert.ok(walked.steerable > 3 * drawn.steerable, `${walked.steerable} and ${drawn.steerable}`)
  }
  // Boundaries move with all the mass before them, which is the worse the more tokens share it.
  assert.ok(unsure.walked.missed > 0.1 && unsure.walked.steerable > 0.5)
  assert.ok(sure.walked.steerable < unsure.walked.steerable)
})

test.run()
