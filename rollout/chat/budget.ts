import type { ChatReply } from './chat.js'

/** The budget of one run's requests to a language model. */
export interface Budget {
  readonly requests: number
  /** Prompts and replies together. */
  readonly tokens: number
}

export interface Spending {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
}

/** The reserved share of one request. */
export interface Share {
  /** Spends the reply's token count, or an estimate from its text if it has none. */
  settle(reply: ChatReply): void
  /** Ends a request without a reply. `costly`: the server may have done the work, so the whole share counts as spent. */
  fail(costly: boolean): void
}

/** Estimate of bytes per token: English has about four, JSON about three. */
const BYTES_PER_TOKEN = 3

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** Creates the account of a budget. It reserves a share for each request, so that requests in progress cannot exceed the budget together. */
export function createAccount(budget: Budget) {
  let requests = 0
  let promptTokens = 0
  let completionTokens = 0
  let reserved = 0
  return {
    /** Reserves the share of a request. @returns  `null` if the budget does not allow another request of this size */
    reserve(prompt: string, replyTokens: number): Share | null {
      const wanted = tokensOf(prompt)
      const most = wanted + replyTokens
      if (requests >= budget.requests) return null
      if (promptTokens + completionTokens + reserved + most > budget.tokens) return null
      requests++
      reserved += most
      const spend = (prompted: number, completed: number): void => {
        reserved -= most
        promptTokens += prompted
        completionTokens += completed
      }
      return {
        settle: ({ usage, text }) =>
          usage ? spend(usage.promptTokens, usage.completionTokens) : spend(wanted, tokensOf(text)),
        fail: (costly) => (costly ? spend(wanted, replyTokens) : spend(0, 0)),
      }
    },
    spent: (): Spending => ({ requests, promptTokens, completionTokens }),
  }
}
