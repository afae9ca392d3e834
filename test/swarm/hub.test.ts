import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hubAccess, repositoryName, uploadToHub } from '../../node/adapters/hub.js'
import { CARD_FILE } from '../../node/adapters/model-card.js'
import { type CheckedFolder, MANIFEST_FILE } from '../../node/adapters/pulled-folder.js'
import { NodeError } from '../../node/report/errors.js'
import { PUBLISHED_FILES } from '../../proto/index.js'
import { patience } from '../support/patience.js'
import { flightManifest, hash } from '../support/proto-samples.js'
import { noise } from '../support/swarm-nodes.js'

const TOKEN = 'hf_tokenofthetest'
const CONTENT: Readonly<Record<string, Uint8Array>> = Object.fromEntries(
  [...PUBLISHED_FILES.map(({ name }) => name), MANIFEST_FILE, CARD_FILE].map((name) => [
    name,
    name.endsWith('.gguf')
      ? noise(3_000_000, 1)
      : name.endsWith('.safetensors')
        ? noise(5_000, 2)
        : Buffer.from(`in ${name}`),
  ]),
)

interface Hub {
  readonly url: string
  readonly visibility: () => string | undefined
  readonly commits: { readonly header: Record<string, string>; readonly files: ReadonlyMap<string, Uint8Array> }[]
  /** Paths that came with a token, and those that came without. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[]
  close(): Promise<unknown>
}

/** The calls of the hub's HTTP API that an upload takes: repositories, kinds of files, Git LFS, commits. */
async function openHub({ token = TOKEN, exists = false } = {}): Promise<Hub> {
  const stored = new Map<string, Uint8Array>()
  const [commits, asked]: [Hub['commits'], { path: string; authorization: string | undefined }[]] = [[], []]
  let visibility: string | undefined
  let isThere = exists
  const answer = (response: ServerResponse, status: number, content: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
  }
  const routes: Readonly<Record<string, (body: Buffer, response: ServerResponse, origin: string) => void>> = {
    'GET /api/models/ada/clerk': (_, response) => answer(response, isThere ? 200 : 404, {}),
    'POST /api/repos/create': (body, response, origin) => {
      const { name, organization, type, ...rest } = JSON.parse(body.toString())
      assert.equal([name, organization, type], ['clerk', 'ada', 'model'])
      visibility = rest.visibility
      isThere = true
      answer(response, 200, { url: `${origin}/ada/clerk`, id: 'ada/clerk' })
    },
    'POST /api/models/ada/clerk/preupload/main': (body, response) => {
      const { files } = JSON.parse(body.toString())
      const modes = files.map(({ path }: { path: string }) => ({
        path,
        uploadMode: /\.(gguf|safetensors)$/.test(path) ? 'lfs' : 'regular',
      }))
      answer(response, 200, { files: modes })
    },
    'POST /ada/clerk.git/info/lfs/objects/batch': (body, response, origin) => {
      const { objects } = JSON.parse(body.toString())
      const wanted = objects.map((object: { oid: string }) => ({
        ...object,
        ...(stored.has(object.oid) ? {} : { actions: { upload: { href: `${origin}/storage/${object.oid}` } } }),
      }))
      answer(response, 200, { transfer: 'basic', objects: wanted })
    },
    'POST /api/models/ada/clerk/commit/main': (body, response, origin) => {
      const lines = body
        .toString()
        .split('\n')
        .map((line) => JSON.parse(line))
      const files = lines.slice(1).map(({ key, value }) => {
        const content =
          key === 'lfsFile' ? stored.get(value.oid)! : Buffer.from(value.content, value.encoding ?? 'utf8')
        return [value.path, content] as const
      })
      commits.push({ header: lines[0].value, files: new Map<string, Uint8Array>(files) })
      answer(response, 200, { commitOid: 'c0ffee', commitUrl: `${origin}/ada/clerk/commit/c0ffee` })
    },
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, headers } = request
    const origin = `http://${headers.host}`
    const path = new URL(request.url!, origin).pathname
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    asked.push({ path, authorization: headers.authorization })
    const [, oid] = /^\/storage\/(\w+)$/.exec(path) ?? []
    if (method === 'PUT' && oid !== undefined) {
      assert.is(createHash('sha256').update(body).digest('hex'), oid)
      stored.set(oid, body)
      response.end()
    } else if (headers.authorization !== `Bearer ${token}`)
      answer(response, 401, { error: 'Invalid username or password.' })
    else routes[`${method} ${path}`]!(body, response, origin)
  }
  const server: Server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => answer(response, 500, { error: error.message }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      visibility: () => visibility,
      commits,
      asked,
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const test = suite<{ folder: string; checked: CheckedFolder }>('uploads to the hub')
const closing: (() => Promise<unknown>)[] = []
test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-hub-'))
  for (const [name, content] of Object.entries(CONTENT)) {
    await mkdir(dirname(join(context.folder, name)), { recursive: true })
    await writeFile(join(context.folder, name), content)
  }
  await writeFile(join(context.folder, 'notes.txt'), 'for nobody else')
  context.checked = {
    ...{ run: '12D3KooWRun', unsigned: ['notes.txt'] },
    sealed: { manifest: flightManifest, manifestId: hash('manifest'), envelope: new Uint8Array() },
    files: PUBLISHED_FILES.map(({ name }) => ({ name, outcome: 'ok', detail: '' })),
  }
})
test.after.each(async () => {
  for (const close of closing.splice(0)) await close()
})
test.after(({ folder }) => rm(folder, { recursive: true }))

async function hub(options: Parameters<typeof openHub>[0] = {}): Promise<Hub> {
  const opened = await openHub(options)
  closing.push(opened.close)
  return opened
}
const accessTo = ({ url }: Hub) => hubAccess({ HF_TOKEN: TOKEN, HF_ENDPOINT: url })

test('a folder is uploaded in one commit, byte for byte, without its other files', async ({ folder, checked }) => {
  const to = await hub()
  const repository = { name: 'ada/clerk', private: true }
  const url = await uploadToHub(folder, checked, { repository, access: accessTo(to) }, patience())
  assert.is(url, `${to.url}/ada/clerk/commit/c0ffee`)
  assert.is(to.visibility(), 'private')
  const [commit, ...more] = to.commits
  assert.is(more.length, 0)
  assert.equal([...commit!.files.keys()].sort(), Object.keys(CONTENT).sort())
  for (const [name, content] of commit!.files)
    assert.equal(Buffer.from(content), await readFile(join(folder, name)), name)
  assert.match(commit!.header.summary!, /^Version 7 /)
  assert.match(commit!.header.description!, /signed by the run 12D3KooWRun/)
})

test('an existing repository is kept, and a file that it has is not sent again', async ({ folder, checked }) => {
  const to = await hub({ exists: true })
  const repository = { name: 'ada/clerk', private: false }
  const uploads = () => to.asked.filter(({ path }) => path.startsWith('/storage/')).length
  await uploadToHub(folder, checked, { repository, access: accessTo(to) }, patience())
  assert.is(uploads(), 3)
  await uploadToHub(folder, checked, { repository, access: accessTo(to) }, patience())
  assert.equal([uploads(), to.commits.length, to.visibility()], [3, 2, undefined])
})

test('the token goes to the hub, not to its storage, and is in no message', async ({ folder, checked }) => {
  const repository = { name: 'ada/clerk', private: false }
  const to = await hub()
  await uploadToHub(folder, checked, { repository, access: accessTo(to) }, patience())
  for (const { path, authorization } of to.asked)
    assert.is(authorization, path.startsWith('/storage/') ? undefined : `Bearer ${TOKEN}`, path)
  const strict = await hub({ token: 'hf_another' })
  const error = await uploadToHub(folder, checked, { repository, access: accessTo(strict) }, patience()).catch(
    (why) => why,
  )
  assert.instance(error, NodeError)
  assert.is(error.code, 'bad_hub')
  assert.match(error.message, /401.*Invalid username/)
  assert.not.match(error.message + String(error.stack) + String(error.cause), new RegExp(TOKEN))
})

test('an upload needs a token, which is never sent without encryption', () => {
  for (const HF_TOKEN of [undefined, '', 'password', 'hf_a b'])
    assert.throws(() => hubAccess({ HF_TOKEN }), /set the environment variable HF_TOKEN/)
  for (const HF_ENDPOINT of ['http://huggingface.co', 'ftp://x', 'x'])
    assert.throws(() => hubAccess({ HF_TOKEN: TOKEN, HF_ENDPOINT }), /give an address with https/)
  assert.is(hubAccess({ HF_TOKEN: TOKEN }).url, 'https://huggingface.co')
  assert.is(repositoryName('hf:ada/lending-clerk_0.1'), 'ada/lending-clerk_0.1')
  for (const text of ['ada/clerk', 'hf:ada', 'hf:ada/', 'hf:ada/../x', 'hf:a/b/c', 'hf:-/x', 'hf:a/b?x=1'])
    assert.is(repositoryName(text), null, text)
})

test.run()
