import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context } from 'hono'
import { EpisodeServerError } from '../errors.js'

/** Whose episodes are counted together. */
export const clientOf = (context: Context): string => getConnInfo(context).remote.address ?? ''

/** The body of a request as JSON; an empty one is an empty object. @throws EnvironmentError `bad_request` */
export async function jsonBody({ req }: Context): Promise<unknown> {
  const text = await req.text()
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new EpisodeServerError('bad_request', 'the body is not JSON')
  }
}
