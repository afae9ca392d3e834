import type { RefusalCode } from '../proto/index.js'

export type TransportErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'stream_ended'
  | 'refused'
  | 'no_source'
  | 'bad_hash'
  | 'busy'
  | 'closed'

/** Something between two nodes did not work out. Nobody is to blame for it; trying again, or elsewhere, may help. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  constructor(
    readonly code: TransportErrorCode,
    readonly detail = '',
    options?: ErrorOptions & {
      /** Why the other side turned a request down; only with `refused`. */
      readonly refusal?: RefusalCode
    },
  ) {
    super(detail ? `${code}: ${detail}` : code, options)
    this.refusal = options?.refusal ?? null
  }

  readonly refusal: RefusalCode | null
}

export class IdentityError extends Error {
  override readonly name = 'IdentityError'
  constructor(
    readonly code: 'key_exists' | 'key_unreadable' | 'not_a_key',
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options)
  }
}
