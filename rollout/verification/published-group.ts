import { z } from 'zod'

/** A group as a file that anybody can judge again: what its node signed, the body that is announced in it, and its task. */
export const GROUP_FORMAT = 'prove-group/2'

const base64 = z.base64().transform((text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))

export const publishedGroup = z.object({
  format: z.literal(GROUP_FORMAT),
  title: z.string().max(200).default(''),
  about: z.string().max(2000).default(''),
  /** The task itself; of a reader that knows tasks, its id will do. */
  task: z.unknown(),
  /** The preset that it was scored by. */
  reward: z.string(),
  /** The run that it was made for: a part of what is signed. */
  run: z.string().max(200),
  /** A sealed announcement. */
  announcement: base64,
  /** An encoded group body. */
  body: base64,
})

export interface GroupToPublish {
  readonly title?: string
  readonly about?: string
  readonly task: unknown
  readonly reward: string
  readonly run: string
  readonly announcement: Uint8Array
  readonly body: Uint8Array
}

/** As `publishedGroup` reads it. */
export function describePublishedGroup({ announcement, body, ...group }: GroupToPublish): object {
  return { format: GROUP_FORMAT, ...group, announcement: base64Of(announcement), body: base64Of(body) }
}

const base64Of = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
