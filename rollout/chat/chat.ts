/** A request to a language model. */
export interface ChatRequest {
  readonly system: string
  readonly user: string
  readonly maxTokens: number
  /** Sampler seed, 0 .. 2^31 - 1, for models that support one: equal requests with equal seeds should give equal replies. */
  readonly seed: number
  /** Sampling temperature, for models that support one; default: the model's. */
  readonly temperature?: number
  /** The required form of the reply, as a named JSON schema, for servers that can enforce it. */
  readonly form?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
}

export interface ChatReply {
  readonly text: string
  /** `length`: cut off at `maxTokens`; `refused`: the model or its filter declined. */
  readonly stop: 'end' | 'length' | 'refused'
  /** The server's token counts; `null` if it reports none. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | null
}

/** A language model that answers one request at a time or several. */
export interface ChatModel {
  /** Name of the model in caches and reports, without address or secret. */
  readonly name: string
  /**
   * Sends a request and returns the reply.
   * @param signal  its reason is thrown when it aborts
   * @throws ChatFailure if the request gets no reply
   */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
  close(): Promise<void>
}
