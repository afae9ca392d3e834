import type { OfferedTool } from '../../servers/kernel/index.js'
import type { JsonObject, LoggedCall } from '../reward/index.js'

/** A place in a JSON value: keys of objects and indices of arrays, from the outside to the inside. */
export type Place = readonly (string | number)[]

/** A value in a call's arguments that is taken from the result of an earlier call of the same message. */
export interface BoundValue {
  /** The place in the arguments, which hold null there. */
  readonly at: Place
  /** How many calls back the result is: 1 is the call before this one. */
  readonly back: number
  /** The place in the result. */
  readonly path: Place
}

/** A call that the policy wrote. */
export interface ReadableCall {
  readonly malformed?: false
  readonly name: string
  readonly arguments: JsonObject
  readonly bound?: readonly BoundValue[]
}

/** A call block as the policy wrote it: readable, or malformed. */
export type ParsedCall = ReadableCall | Extract<LoggedCall, { malformed: true }>

/** Characters of a message, as [start, end). */
export type Span = readonly [start: number, end: number]

/**
 * A piece of the environment's text. Pieces are tokenised separately, so a foreign text cannot merge with the markup next to it.
 */
export type Piece =
  /** The format's markup, in which control tokens are recognised. */
  | { readonly markup: string }
  /** Text of an environment or a user, in which control tokens are not recognised. */
  | { readonly text: string }

/** The beginning of a conversation. */
export interface Opening {
  readonly tools: readonly OfferedTool[]
  readonly system: string | undefined
  readonly userTurn: string
}

/**
 * Tool-call format: how a family of chat models writes tool calls, and how a conversation continues after a sampled turn. A policy names
 * its format, and node and coordinator must parse every message alike. So nothing here may depend on the machine, the time or the
 * size of a stack, and the meaning of a name never changes.
 *
 * Messages are texts of whole sampled turns, including the end token if they have one.
 */
export interface ToolCallFormat {
  readonly name: string
  /** Markup of tool calls and results, which no foreign text may contain. */
  readonly tags: readonly string[]
  /** The control token with which an assistant ends its turn. */
  readonly turnEnd: string
  /** The beginning of an assistant's turn: prompts from the model's template end with it. */
  readonly opening: string
  /** The template's `enable_thinking`; null: not set, and the model's default applies. */
  readonly thinking: 'on' | 'off' | null
  /** Returns the input with which the model's chat template renders the first prompt. */
  templateInput(opening: Opening): Readonly<Record<string, unknown>>
  /**
   * Returns the tool calls of an assistant's message, in order. A block that cannot be parsed is malformed (docs/explain/reward.md), and so is one
   * beyond `CALL_LIMITS`. Malformed blocks are never corrected. Never throws.
   */
  parseCalls(message: string): ParsedCall[]
  /** Returns the ranges of the calls' arguments in an assistant's message, also of malformed calls. */
  argumentSpans(message: string): Span[]
  /** Returns the text of an assistant's message for the user: without readable calls, and without thoughts if thinking is on. */
  prose(message: string): string
  /** Writes a message with one call, for reference solutions. */
  writeCall(name: string, args: JsonObject): string
  /** Writes a message with several calls, which may take values from results; null: a message of a reference solution has one call. */
  readonly writeCalls: ((calls: readonly ReadableCall[]) => string) | null
  /**
   * Returns the text after a turn with calls: their results, then the beginning of the next assistant turn.
   * @param payloads  JSON texts. Each becomes one text piece with the same JSON value that contains none of `tags`.
   */
  toolResults(payloads: readonly string[]): Piece[]
  /** Returns the text after a turn without calls: the next user turn, then the beginning of the next assistant turn. */
  userTurn(text: string): Piece[]
}
