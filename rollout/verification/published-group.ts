import { z } from 'zod'

/** Format of a group as a file that anyone can verify again: the signed announcement, the body, and the task. */
export const GROUP_FORMAT = 'prove-group/2'

const base64 = z.base64().transform((text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))

export const publishedGroup = z.object({
  format: z.literal(GROUP_FORMAT),
  title: z.string().max(200).default(''),
  about: z.string().max(2000).default(''),
  /** The task, or its id for a reader that knows the tasks. */
  task: z.unknown(),
  /** Name of the reward preset. */
  reward: z.string(),
  /** Name of the run, which is part of the signed bytes. */
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

/** Builds the JSON object that `publishedGroup` parses. */
export function describePublishedGroup({ announcement, body, ...group }: GroupToPublish): object {
  return { format: GROUP_FORMAT, ...group, announcement: base64Of(announcement), body: base64Of(body) }
}

const base64Of = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
