/** What a schema says, as far as a world can say it too: what JSON Schema writes in many ways is written in one here. */
export type Shape =
  | { readonly kind: 'text'; readonly format?: TextFormat; readonly least?: number; readonly most?: number }
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly least?: number; readonly most?: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'list'; readonly element: Shape }
  /** `name`: what the source calls objects of this shape, if it does. */
  | { readonly kind: 'record'; readonly name?: string; readonly fields: ReadonlyMap<string, Field> }
  /** An object with whatever in it. */
  | { readonly kind: 'open' }

export type TextFormat = 'date' | 'datetime' | 'email' | 'url'

export interface Field {
  readonly shape: Shape
  readonly isRequired: boolean
  readonly isNullable: boolean
  readonly description: string
}

/** A call that somebody else's program offers. */
export interface ForeignTool {
  /** As it is called there. */
  readonly name: string
  /** What it is there, for comments: `GET /pets/{petId}`. */
  readonly origin: string
  readonly description: string
  /** Undefined where the source does not say. */
  readonly readOnly: boolean | undefined
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly input: ReadonlyMap<string, Field>
  readonly output: Shape | undefined
  /** By the name of an argument, what it is the key of where the source shows it otherwise than by the argument's name. */
  readonly keysOf: ReadonlyMap<string, string>
  /** Answers that mean that the call failed, in the words of the source. */
  readonly failures: readonly string[]
}

/** What a draft is made of. */
export interface ForeignService {
  readonly title: string
  readonly description: string
  readonly tools: readonly ForeignTool[]
  /** What was left out or guessed, where it was found. */
  readonly notes: readonly string[]
}
