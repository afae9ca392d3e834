import type { OfferedTool } from '../../servers/kernel/index.js'
import type { JsonObject, LoggedCall } from '../reward/index.js'

/** A call block as the policy wrote it: readable, or malformed. */
export type ParsedCall =
  | { readonly malformed?: false; readonly name: string; readonly arguments: JsonObject }
  | Extract<LoggedCall, { malformed: true }>

/** Characters of a message, as [start, end). */
export type Span = readonly [start: number, end: number]

/**
 * A piece of what the environment writes. Each is turned into tokens on its own, so a foreign text cannot run into the
 * markup beside it.
 */
export type Piece =
  /** The dialect's own words: control tokens in it are control tokens. */
  | { readonly markup: string }
  /** What a world or a user says: nothing in it is a control token. */
  | { readonly text: string }

/** What a conversation opens with. */
export interface Opening {
  readonly tools: readonly OfferedTool[]
  readonly system: string | undefined
  readonly userTurn: string
}

/**
 * How a family of chat models writes tool calls, and how a conversation's text goes on after a sampled turn. A policy
 * names its dialect, and node and judge must read every message alike: nothing here may depend on the machine, the time
 * or the size of a stack, and what a name means never changes.
 *
 * Messages are texts of whole sampled turns, with the token that ends them where there is one.
 */
export interface ToolCallFormat {
  readonly name: string
  /** Markup by which tool calls and results are recognised: no foreign text may spell it. */
  readonly tags: readonly string[]
  /** The control token with which an assistant ends its turn. */
  readonly turnEnd: string
  /** What opens an assistant's turn: a prompt that the model's template renders ends with it. */
  readonly opening: string
  /** What the template is told of thinking before speaking; null: nothing, and the model does as it does by itself. */
  readonly thinking: 'on' | 'off' | null
  /** What the model's own chat template is rendered over to get the first prompt, up to where the assistant begins. */
  templateInput(opening: Opening): Readonly<Record<string, unknown>>
  /**
   * The tool calls of an assistant's message, in order. No repair is tried: a block that cannot be read is malformed
   * (docs/reward.md), and so is one whose name or depth no tool has (`CALL_LIMITS`). Never throws.
   */
  parseCalls(message: string): ParsedCall[]
  /** Where the arguments of the calls stand in an assistant's message, in calls that can be read and in others. */
  argumentSpans(message: string): Span[]
  /** What an assistant's message says beside the calls that can be read, without its thoughts where it was told to think: what a user is shown. */
  prose(message: string): string
  /** A message that makes one call, as a teacher writes it. */
  writeCall(name: string, args: JsonObject): string
  /** The same with a slip that makes the call malformed: teachers of a base model make some. */
  writeBrokenCall(name: string, args: JsonObject): string
  /**
   * What follows a turn with calls: their results, then whatever opens the next assistant turn.
   * @param payloads  JSON texts. Each becomes one text piece with the same JSON value that spells none of `tags`.
   */
  toolResults(payloads: readonly string[]): Piece[]
  /** What follows a turn without calls: the next user turn, then whatever opens the next assistant turn. */
  userTurn(text: string): Piece[]
}
