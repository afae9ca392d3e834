import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context } from 'hono'
import { readJson } from '../read-json.js'

/** Returns the address whose episodes count together. */
export const clientOf = (context: Context): string => getConnInfo(context).remote.address ?? ''

/** Parses the JSON body of a request. An empty body gives an empty object. @throws EpisodeServerError `bad_request` */
export async function jsonBody({ req }: Context): Promise<unknown> {
  const text = await req.text()
  return text.trim() === '' ? {} : readJson(text, 'the body')
}
