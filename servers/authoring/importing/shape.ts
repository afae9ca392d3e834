/** The part of a schema that an environment can express too. JSON Schema has several notations for a shape, and this type has one. */
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

/** A call that the program to import offers. */
export interface ForeignTool {
  /** As it is called there. */
  readonly name: string
  /** Name of the call in its source, for comments: `GET /pets/{petId}`. */
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

/** The imported service from which a draft is made. */
export interface ForeignService {
  readonly title: string
  readonly description: string
  readonly tools: readonly ForeignTool[]
  readonly notes: readonly Note[]
}

/** An omission or a guess of the import. */
export interface Note {
  /** Origin of a call, with the names of fields after commas. */
  readonly where: string
  readonly what: string
}

export type TakeNote = (where: string, what: string) => void
