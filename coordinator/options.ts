import { InvalidArgumentError } from 'commander'

/** Parses a command-line integer within bounds. */
export function integerOption(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < low || value > high)
      throw new InvalidArgumentError(`Give an integer from ${low} to ${high}.`)
    return value
  }
}

/** Parses a share: a number from 0 to 1. */
export function shareOption(text: string): number {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('Give a number from 0 to 1.')
  return value
}
