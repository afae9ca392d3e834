import { type Budget, createAccount, type Spending } from './budget.js'
import type { ChatModel, ChatReply, ChatRequest } from './chat.js'
import { ChatFailure, type Failure } from './errors.js'

/** Why a request was not sent. `budget`: requests or tokens are used up. `down`: too many requests failed in a row. */
export interface UnsentRequest {
  readonly kind: 'budget' | 'down'
  /** For people. */
  readonly detail: string
}

/** A language model that is asked for as long as it answers and the budget lasts. */
export interface BudgetedChat {
  readonly name: string
  /** Nothing is sent any more. */
  readonly isDown: boolean
  /**
   * One request, sent once. Several may be under way.
   * @throws the signal's reason when it aborts
   */
  ask(request: ChatRequest, signal: AbortSignal): Promise<ChatReply | ChatFailure | UnsentRequest>
  spent(): Spending
}

/** A failed request of these kinds may have been worked on all the same. */
const COSTLY: readonly Failure[] = ['timeout', 'connection', 'bad_protocol']

/** A failed request of these kinds may succeed when it is sent again. */
const PASSING: readonly Failure[] = ['connection', 'timeout', 'rate_limited', 'server_error', 'bad_protocol']

export const isPassing = ({ kind }: ChatFailure): boolean => PASSING.includes(kind)

/**
 * Counts what is spent and what fails.
 * @param failuresInARow  failed requests, one after the other, after which nothing is sent any more
 */
export function budgetedChat(model: ChatModel, budget: Budget, failuresInARow: number): BudgetedChat {
  const account = createAccount(budget)
  let inARow = 0
  let isDown = false
  return {
    name: model.name,
    get isDown() {
      return isDown
    },
    async ask(request, signal) {
      if (isDown) return { kind: 'down', detail: `${model.name} does not answer any more` }
      const share = account.reserve(request.system + request.user, request.maxTokens)
      if (!share) return { kind: 'budget', detail: 'the budget of this run is used up' }
      try {
        const reply = await model.complete(request, signal)
        share.settle(reply)
        inARow = 0
        return reply
      } catch (error) {
        const failure = error instanceof ChatFailure ? error : undefined
        share.fail(!failure || COSTLY.includes(failure.kind))
        if (!failure) throw error
        inARow = failure.kind === 'rejected' ? 0 : inARow + 1
        if (failure.kind === 'forbidden' || inARow >= failuresInARow) isDown = true
        return failure
      }
    },
    spent: () => account.spent(),
  }
}
