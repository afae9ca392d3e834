/**
 * The probability distributions that verdicts need. They use sums of logarithms: counts are small, but probabilities must not
 * underflow before they are compared.
 */

/** Returns ln(n!), n an integer >= 0: a product for small n, else Stirling's series, which is then exact to float64. */
function logFactorial(n: number): number {
  if (n > 20) {
    return (
      n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5)
    )
  }
  let product = 1
  for (let i = 2; i <= n; i++) product *= i
  return Math.log(product)
}

/** Returns the probability of at least `count` events where `expected` are expected (Poisson). */
export function poissonTail(count: number, expected: number): number {
  if (count <= 0) return 1
  if (expected <= 0) return 0
  const term = (k: number): number => Math.exp(k * Math.log(expected) - expected - logFactorial(k))
  let sum = 0
  if (count <= expected) {
    for (let k = 0; k < count; k++) sum += term(k)
    return Math.min(1, Math.max(0, 1 - sum))
  }
  for (let k = count; ; k++) {
    const next = term(k)
    sum += next
    if (next <= sum * 1e-16) return Math.min(1, sum)
  }
}

/** Returns the largest expectation for which `count` or fewer events have the probability 1 - confidence (Garwood 1936). */
export function poissonUpper(count: number, confidence: number): number {
  return rootOf((expected) => poissonTail(count + 1, expected) - confidence, 0, 2 * count + 50)
}

/** Returns the probability of at most `count` successes in `trials` trials, each of probability `p`. */
export function binomialCdf(count: number, trials: number, p: number): number {
  if (count >= trials) return 1
  if (count < 0) return 0
  if (p <= 0 || p >= 1) return p <= 0 ? 1 : 0
  let sum = 0
  for (let k = 0; k <= count; k++) {
    const choose = logFactorial(trials) - logFactorial(k) - logFactorial(trials - k)
    sum += Math.exp(choose + k * Math.log(p) + (trials - k) * Math.log1p(-p))
  }
  return Math.min(1, sum)
}

/** Returns the probability of at least `hits` marked items in a sample of `drawn` from `all` items, `marked` of them marked (without replacement). */
export function hypergeometricTail(hits: number, drawn: number, marked: number, all: number): number {
  const choose = (n: number, k: number): number =>
    k < 0 || k > n ? Number.NEGATIVE_INFINITY : logFactorial(n) - logFactorial(k) - logFactorial(n - k)
  let sum = 0
  for (let k = hits; k <= Math.min(drawn, marked); k++)
    sum += Math.exp(choose(marked, k) + choose(all - marked, drawn - k) - choose(all, drawn))
  return Math.min(1, sum)
}

export interface Share {
  readonly count: number
  readonly of: number
  readonly share: number
  /** Two-sided interval of the true share. */
  readonly low: number
  readonly high: number
}

/** Returns a measured share with its exact, conservative interval (Clopper and Pearson 1934). */
export function shareOf(count: number, of: number, confidence = 0.95): Share {
  const tail = (1 - confidence) / 2
  return {
    count,
    of,
    share: of === 0 ? 0 : count / of,
    low: count === 0 ? 0 : rootOf((p) => tail - (1 - binomialCdf(count - 1, of, p)), 0, 1, true),
    high: count === of ? 1 : rootOf((p) => tail - binomialCdf(count, of, p), 0, 1),
  }
}

/** Returns the root of a rising (or, with `falling`, falling) function between the bounds, by bisection. */
function rootOf(f: (x: number) => number, low: number, high: number, falling = false): number {
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (f(middle) < 0 === !falling) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Returns the `share`-quantile of numbers in any order: the smallest number that at least this share does not exceed. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN
}
