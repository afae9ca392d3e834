import { InvalidArgumentError } from 'commander'

/** Price of a million tokens, of prompts and of replies. */
export type Price = readonly [prompt: number, reply: number]

/** Parses two prices: `0.15,0.6`. */
export function priceOption(text: string): Price {
  const prices = text.split(',').map(Number)
  const [prompt, reply] = prices
  if (prices.length !== 2 || !(prompt! >= 0) || !(reply! >= 0))
    throw new InvalidArgumentError('Give two numbers, such as 0.15,0.6.')
  return [prompt!, reply!]
}

export interface Tokens {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** Formats the tokens used of a language model, with the cost if the price is known: `402,000 + 61,000 tokens, cost 0.24`. */
export function saidTokens({ promptTokens, completionTokens }: Tokens, price: Price | undefined): string {
  const spent = price && `, cost ${((promptTokens * price[0] + completionTokens * price[1]) / 1e6).toFixed(2)}`
  return `${promptTokens.toLocaleString('en-US')} + ${completionTokens.toLocaleString('en-US')} tokens${spent ?? ''}`
}
