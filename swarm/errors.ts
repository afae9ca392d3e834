import { CodedError } from '../common/errors/index.js'
import type { RefusalCode } from '../proto/index.js'

export type TransportErrorCode =
  | 'unreachable'
  /** The other side speaks another version of the protocol. Only another version of a program helps. */
  | 'other_version'
  | 'timeout'
  | 'stream_ended'
  | 'refused'
  | 'no_source'
  | 'bad_hash'
  | 'busy'
  | 'closed'

/** Something between two nodes did not work out. Nobody is to blame for it; trying again, or elsewhere, may help. */
export class TransportError extends CodedError<TransportErrorCode> {
  constructor(
    code: TransportErrorCode,
    detail = '',
    options?: ErrorOptions & {
      /** Why the other side turned a request down; only with `refused`. */
      readonly refusal?: RefusalCode
    },
  ) {
    super(code, detail, options)
    this.refusal = options?.refusal ?? null
  }

  readonly refusal: RefusalCode | null
}

export class IdentityError extends CodedError<'key_exists' | 'key_unreadable' | 'not_a_key'> {}

/** What a disk no longer holds, or holds otherwise than it was written. */
export class BlobError extends CodedError<'blob_missing' | 'blob_damaged'> {}
