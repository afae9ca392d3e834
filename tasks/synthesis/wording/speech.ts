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

/** Puts conversations into words. All methods are deterministic in `moment.random`; `undefined`: there is no way to say it. */
export interface Speech {
  /** A user turn that asks for everything in `asks`, in order. */
  request(asks: readonly Ask[], moment: Moment): Said | undefined
  /** A user turn that says what they are after without any detail: the assistant has to ask, or to refuse. */
  vague(ask: Ask, moment: Moment): string | undefined
  /** The user supplies the value that was withheld, after the assistant asked for it. */
  supply(ask: Ask, field: string, moment: Moment): Said | undefined
  /** After a failure, the user gives another value for one field of the same call. */
  correct(ask: Ask, field: string, moment: Moment): Said | undefined
  /** The assistant asks for a missing value (`field`), or for details in general. */
  question(ask: Ask, field: string | undefined, moment: Moment): string
  /** The assistant closes a turn in which these calls were made. */
  report(done: readonly Done[], moment: Moment): string
  /** The assistant says that a call failed and why, and hands the decision back. */
  failure(ask: Ask, message: string, moment: Moment): string
  /** The assistant says that it has no tool for what was asked, of which `ask` is the last thing. */
  decline(moment: Moment, ask?: Ask): string
  /** The assistant declines again, because the user insists. */
  declineOnceMore(moment: Moment): string
  /** The assistant declines what is left after a part was done. */
  declineRest(moment: Moment, ask?: Ask): string
  /** The user asks again for what was declined. */
  insist(moment: Moment): string
  /** The user says that what was missing is there now. */
  bring(moment: Moment): string
}
