import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRepo, HubApiError, repoExists, uploadFiles } from '@huggingface/hub'
import { isLoopback } from '../../common/http/index.js'
import { NodeError } from '../report/errors.js'
import { CARD_FILE } from './model-card.js'
import { type CheckedFolder, MANIFEST_FILE } from './pulled-folder.js'

/** A repository of the Hugging Face hub. */
export interface HubRepository {
  /** Owner and name, as the hub writes them. */
  readonly name: string
  /** Visibility of a new repository. */
  readonly private: boolean
}

/** Address and token of the hub. */
export interface HubAccess {
  readonly url: string
  /** Sent only to the hub. */
  readonly token: string
}

/** Time limit of a request with its upload: 2 GiB at 10 Mbit/s take half an hour. */
const REQUEST_MS = 3_600_000
const REPOSITORY = /^hf:([A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95})$/

/** Parses `hf:OWNER/NAME`. @returns null for other text */
export const repositoryName = (text: string): string | null => REPOSITORY.exec(text)?.[1] ?? null

/**
 * Reads address and token of the hub from the variables that the hub's programs use.
 * @throws NodeError `bad_hub`
 */
export function hubAccess({
  HF_TOKEN: token = '',
  HF_ENDPOINT: url = 'https://huggingface.co',
}: NodeJS.ProcessEnv): HubAccess {
  if (!/^hf_\w+$/.test(token))
    throw new NodeError(
      'bad_hub',
      'set the environment variable HF_TOKEN to a token of the hub with write access, which begins with hf_',
    )
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
    return { url: url.replace(/\/+$/, ''), token }
  throw new NodeError('bad_hub', `HF_ENDPOINT is ${url}: give an address with https, because the token is sent there`)
}

/**
 * Uploads a pulled folder in one commit: the published files, the signed manifest and the card. Other files are not uploaded.
 * @param checked  the result of the check, in which no file is missing or changed
 * @returns URL of the commit
 * @throws NodeError `bad_hub` with the hub's answer; the signal's reason
 */
export async function uploadToHub(
  folder: string,
  { run, sealed: { manifest, manifestId }, files }: CheckedFolder,
  {
    repository,
    access: { url: hubUrl, token: accessToken },
  }: { readonly repository: HubRepository; readonly access: HubAccess },
  signal: AbortSignal,
): Promise<string> {
  const repo = { type: 'model', name: repository.name } as const
  const withinTime: typeof fetch = (input, init) => {
    const signals = [signal, AbortSignal.timeout(REQUEST_MS), ...(init?.signal ? [init.signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
  const hub = { repo, accessToken, hubUrl, fetch: withinTime }
  const names = [...files.map(({ name }) => name), MANIFEST_FILE, CARD_FILE]
  try {
    if (!(await repoExists(hub))) await createRepo({ ...hub, visibility: repository.private ? 'private' : 'public' })
    const made = await uploadFiles({
      ...hub,
      abortSignal: signal,
      files: names.map((path) => ({ path, content: pathToFileURL(join(folder, path)) })),
      commitTitle: `Version ${manifest.version} of a PROVE run`,
      commitDescription: `Manifest ${manifestId}, signed by the run ${run}`,
    })
    return made?.commit.url ?? `${hubUrl}/${repository.name}`
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof HubApiError)
      throw new NodeError('bad_hub', `${hubUrl} answers ${cause.statusCode}: ${cause.message}`, { cause })
    if (!(cause instanceof Error)) throw cause
    const why = cause.cause instanceof Error ? cause.cause.message : cause.message
    throw new NodeError('bad_hub', `${hubUrl}: ${why}`, { cause })
  }
}
