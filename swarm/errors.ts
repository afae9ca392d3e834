import { CodedError } from '../common/errors/index.js'
import type { RefusalCode } from '../proto/index.js'

export type TransportErrorCode =
  | 'unreachable'
  /** The peer speaks another version of the protocol. Only another version of a program helps. */
  | 'other_version'
  | 'timeout'
  | 'stream_ended'
  | 'refused'
  | 'no_source'
  | 'bad_hash'
  | 'busy'
  | 'closed'

/** A failure between two nodes that is neither node's fault. A retry, or another peer, may succeed. */
export class TransportError extends CodedError<TransportErrorCode> {
  constructor(
    code: TransportErrorCode,
    detail = '',
    options?: ErrorOptions & {
      /** Why the peer refused a request; only with `refused`. */
      readonly refusal?: RefusalCode
    },
  ) {
    super(code, detail, options)
    this.refusal = options?.refusal ?? null
  }

  readonly refusal: RefusalCode | null
}

/** A key file that cannot be read, written or replaced. */
export class IdentityError extends CodedError<'key_exists' | 'key_unreadable' | 'not_a_key'> {}

/** A blob that is missing on disk, or damaged. */
export class BlobError extends CodedError<'blob_missing' | 'blob_damaged'> {}
