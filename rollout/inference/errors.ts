import { CodedError } from '../../common/errors/index.js'

export type ConversationErrorCode =
  /** Messages in an order that no conversation with the policy has. */
  | 'bad_order'
  /** A tool result without its call, or a call without its result. */
  | 'bad_tool_result'
  /** A text holds a control token or a tag by which calls and results are recognised. */
  | 'reserved_tag'
  /** Tools, or messages, that the model's chat template does not provide for. */
  | 'not_written'
  /** A tool that the worlds do not have. */
  | 'unknown_tool'
  /** The conversation leaves no room for an answer. */
  | 'context_full'

/** A conversation that cannot be put before the policy. */
export class ConversationError extends CodedError<ConversationErrorCode> {}
