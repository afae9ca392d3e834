/** A request to a language model. */
export interface ChatRequest {
  readonly system: string
  readonly user: string
  readonly maxTokens: number
  /** For samplers that take one: the same request with the same seed should give the same reply. 0 .. 2^31 - 1. */
  readonly seed: number
  /** For samplers that take one; otherwise their own. */
  readonly temperature?: number
  /** How the reply has to look, as a JSON schema with a name, for servers that can force it. */
  readonly form?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
}

export interface ChatReply {
  readonly text: string
  /** `length`: cut off at `maxTokens`; `refused`: the model or its filter declined. */
  readonly stop: 'end' | 'length' | 'refused'
  /** As the server counts them; `null` when it does not say. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | null
}

/** A language model that answers one request at a time or several. */
export interface ChatModel {
  /** Names the model in the cache and in reports; holds no address and no secret. */
  readonly name: string
  /**
   * @param signal  of the caller; its reason is thrown when it aborts
   * @throws ChatFailure when there is no reply
   */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
  close(): Promise<void>
}
