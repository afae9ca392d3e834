import { InvalidArgumentError } from 'commander'

/** Creates a parser of a command-line integer within bounds. */
export function integerOption(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < low || value > high)
      throw new InvalidArgumentError(`Give an integer from ${low} to ${high}.`)
    return value
  }
}
