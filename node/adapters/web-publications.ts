import { z } from 'zod'
import {
  type BlobDescription,
  LIMITS,
  openManifest,
  type PublishedFile,
  type SealedManifest,
  SwarmRefusal,
} from '../../proto/index.js'
import { type OtherSource, TransportError } from '../../swarm/index.js'
import { webSource } from '../base/web-source.js'
import { NodeError } from '../report/errors.js'

/** The publications of a run on a web server: the coordinator's dashboard, or a copy of its files. */
export interface WebPublications {
  readonly url: string
  /**
   * Reads the manifests, each signed by the run.
   * @throws NodeError `bad_source`; the signal's reason
   */
  manifests(signal: AbortSignal): Promise<SealedManifest[]>
  /** Returns whether the server has a file of a version. @throws NodeError `bad_source`; the signal's reason */
  has(version: number, name: PublishedFile['name'], signal: AbortSignal): Promise<boolean>
  /** Returns a source of the file's pieces. The caller checks the hash of each piece. */
  source(version: number, name: PublishedFile['name'], blob: BlobDescription): OtherSource
}

/** Time limit of a complete answer. A manifest has at most 1 MiB. */
const ANSWER_MS = 30_000
const LISTING_BYTES = 2 ** 20

const listingShape = z.object({
  versions: z.array(z.object({ version: z.int().min(0) })).max(LIMITS.manifestsServed.value),
})

/**
 * Reads publications from a web server.
 * @param address  address of the dashboard in a browser
 * @param run      peer id of the run's key
 */
export function webPublications(address: string, run: string): WebPublications {
  const url = address.replace(/\/+$/, '')
  // An address with https never leads to http.
  const protocols = url.startsWith('https:') ? ['https:'] : ['http:', 'https:']
  const at = (version: number, name: string): string => `${url}/versions/${version}/${name}`

  const ask = async (path: string, method: 'GET' | 'HEAD', signal: AbortSignal): Promise<Response> => {
    let response: Response
    try {
      response = await fetch(path, { method, redirect: 'error', headers: { accept: '*/*' }, signal })
    } catch (cause) {
      signal.throwIfAborted()
      const why =
        cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : (cause as Error).message
      throw badSource(path, why, cause)
    }
    if (response.ok || (method === 'HEAD' && response.status === 404)) return response
    await response.body?.cancel()
    if (response.status === 401)
      throw badSource(path, 'the server requires a token: ask the operator to set dashboard.public')
    throw badSource(path, `the server answers ${response.status}`)
  }

  const read = async (path: string, most: number, signal: AbortSignal): Promise<Buffer> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
    try {
      const { body } = await ask(path, 'GET', within)
      const pieces: Uint8Array[] = []
      let size = 0
      for await (const piece of body ?? []) {
        size += piece.length
        if (size > most) throw badSource(path, `more than ${most} bytes`)
        pieces.push(piece)
      }
      return Buffer.concat(pieces)
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof NodeError) throw cause
      throw badSource(path, within.aborted ? `no answer in ${ANSWER_MS / 1000} s` : (cause as Error).message, cause)
    }
  }

  const manifest = async (version: number, signal: AbortSignal): Promise<SealedManifest> => {
    const path = at(version, 'manifest.sealed')
    try {
      return await openManifest(await read(path, LIMITS.manifestBytes.value, signal), run)
    } catch (cause) {
      if (cause instanceof SwarmRefusal)
        throw badSource(path, `it is not a manifest of the run ${run}: ${cause.message}`, cause)
      throw cause
    }
  }

  return {
    url,
    async manifests(signal) {
      const path = `${url}/versions.json`
      const text = (await read(path, LISTING_BYTES, signal)).toString('utf8')
      const listed = listingShape.safeParse(parsed(text))
      if (!listed.success) throw badSource(path, 'it is not a list of versions: give the address of a dashboard')
      const found: SealedManifest[] = []
      for (const { version } of listed.data.versions) found.push(await manifest(version, signal))
      return found
    },
    async has(version, name, signal) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
      return (await ask(at(version, name), 'HEAD', within)).ok
    },
    source: (version, name, { sizeBytes }) => webSource(at(version, name), { sizeBytes, protocols }),
  }
}

/**
 * Repeats a download that was cut, as long as each attempt fetches at least one piece.
 * @param fetchBlob  one attempt, which reports each piece
 */
export async function throughCuts(fetchBlob: (onPiece: () => void) => Promise<string>): Promise<string> {
  for (;;) {
    let pieces = 0
    try {
      return await fetchBlob(() => {
        pieces += 1
      })
    } catch (error) {
      if (!(error instanceof TransportError && error.code === 'no_source') || pieces === 0) throw error
    }
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const badSource = (path: string, why: string, cause?: unknown): NodeError =>
  new NodeError('bad_source', `${path}: ${why}`, { cause })
