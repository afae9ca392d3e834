import { z } from 'zod'
import { texts, wordList } from './word-list.js'

/** One request, or two requests that a user makes together. `(a|b)` is a choice. */
export type OutsideRequest = string | readonly [first: string, second: string]

/** Requests about one topic. No tool of any environment serves them. */
export interface OutsideTopic {
  readonly name: string
  /** The environment to whose assistant a user would turn; any assistant where it is missing. */
  readonly environment?: string | undefined
  readonly requests: readonly OutsideRequest[]
}

/**
 * Returns requests that no tool serves and that cannot be answered from memory. They are close to what the tools of an environment are for,
 * or about current events. General knowledge is not among them, because an assistant without tools could answer it.
 */
export const outsideWords: () => { readonly places: readonly string[]; readonly topics: readonly OutsideTopic[] } =
  wordList(
    'outside-topics',
    z.strictObject({
      places: texts,
      topics: z.array(
        z.strictObject({
          name: z.string(),
          environment: z.string().optional(),
          requests: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
        }),
      ),
    }),
  )
