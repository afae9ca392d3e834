import type { JsonObject } from '../../../rollout/reward/index.js'
import type { SeededRandom, SpokenEnvironment, ToolDefinition } from '../../../servers/kernel/index.js'
import type { Way } from '../way.js'

/** Ways to write: the phrases of users are listed by register. */
export const REGISTERS = ['terse', 'plain', 'polite', 'chatty'] as const
export type Register = (typeof REGISTERS)[number]

/** The person who speaks. */
export interface Persona {
  readonly name: string
  /** Role of the person, as the system message says it: `a nurse from Porto`. */
  readonly role: string
  readonly register: Register
}

/** One call that a user asks for. */
export interface Ask {
  readonly environment: SpokenEnvironment
  readonly tool: ToolDefinition
  readonly args: JsonObject
  /** How arguments that earlier results supply are referred to, by field. */
  readonly references: ReadonlyMap<string, Way>
  /** A required field whose value the user does not say yet. */
  readonly withheld?: string
  /** A look-up that the user takes for granted: it is not asked for, but all its values must be said. */
  readonly silent?: boolean
}

/** A call that was made, with its result. */
export interface Done {
  readonly ask: Ask
  readonly output: JsonObject
}

/** A speaker's knowledge about the moment. */
export interface Moment {
  readonly persona: Persona
  /** Reference date, YYYY-MM-DD. Said in the system message only if `dated`. */
  readonly today: string
  readonly dated: boolean
  /** Index of the user turn, from 0. */
  readonly turn: number
  /** Kind of the assistant's last words, which a user takes up: a question, a refusal, an obstacle, or what was found or changed. */
  readonly after?: 'question' | 'unanswered' | 'failure' | 'obstacle' | 'found' | 'changed'
  /** The assistant has more to say than what was done and found: a question, or that something failed. */
  readonly goesOn?: boolean
  /** The requested thing was done just now, with other arguments. */
  readonly again?: boolean
  /** The task is held out: some ways to ask are kept for such. */
  readonly heldOut?: boolean
  readonly random: SeededRandom
}

/** Words, and which words stand for which values: the evidence of the provenance filter. */
export interface Said {
  readonly text: string
  /** Per ask and field, the part of `text` that gives the value. */
  readonly phrases: readonly ReadonlyMap<string, string>[]
  /** Per ask and field, the words that mean a value of an earlier result, and where in `text` they begin. */
  readonly mentions: readonly ReadonlyMap<string, Mentioned>[]
}

export interface Mentioned {
  readonly at: number
  readonly words: string
}
