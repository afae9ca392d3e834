import type { ChatReply } from './chat.js'

/** The most that one run may ask of a teacher. */
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

/** One request's share of the budget. */
export interface Share {
  /** The reply's own count of tokens; without one, an estimate from its text. */
  settle(reply: ChatReply): void
  /** No reply. `costly`: the server may have worked for it all the same, and is counted as if it had. */
  fail(costly: boolean): void
}

/** Sizes in tokens are not known before a server tells them; English has four bytes to a token, JSON about three. */
const BYTES_PER_TOKEN = 3

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** Counts what is spent, and lets no request start that might exceed the budget together with those under way. */
export function createAccount(budget: Budget) {
  let requests = 0
  let promptTokens = 0
  let completionTokens = 0
  let reserved = 0
  return {
    /** @returns `null` when the budget does not allow another request of this size */
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
