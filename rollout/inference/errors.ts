import { CodedError } from '../../common/errors/index.js'

export type ConversationErrorCode =
  /** The order of messages is invalid. */
  | 'bad_order'
  /** A tool result without its call, or a call without its result. */
  | 'bad_tool_result'
  /** A text contains a control token or a tag of calls and results. */
  | 'reserved_tag'
  /** The model's chat template does not support the tools or messages. */
  | 'not_written'
  /** The environments do not have a tool. */
  | 'unknown_tool'
  /** The conversation leaves no tokens for an answer. */
  | 'context_full'

/** Error of a conversation that the policy cannot continue. */
export class ConversationError extends CodedError<ConversationErrorCode> {}
