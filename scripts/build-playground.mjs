// Builds dist/playground/, a folder of static files: the environments run in the page, so any web server can serve it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = `${root}servers/episodes/playground/page`
export const PLAYGROUND = `${root}dist/playground`

/** Replacements for Node's modules in a browser. */
const SHIMS = { 'node:crypto': `${source}/shims/crypto.ts`, 'node:util': `${source}/shims/util.ts` }

/** Bundles only the used parts of our modules, although index files export more, and no module of Node.js without a replacement. */
const ownModules = {
  name: 'own-modules',
  setup(building) {
    building.onResolve({ filter: /^node:/ }, ({ path }) =>
      SHIMS[path] ? { path: SHIMS[path] } : { path, external: true, sideEffects: false },
    )
    building.onResolve({ filter: /^\.{1,2}\// }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === ownModules || importer.includes('node_modules')) return undefined
      const found = await building.resolve(path, { importer, resolveDir, kind, pluginData: ownModules })
      return path.endsWith('/without-eval.js') ? found : { ...found, sideEffects: false }
    })
  },
}

function entry() {
  const environments = readdirSync(`${root}servers`).filter(
    (name) => !['kernel', 'authoring', 'episodes'].includes(name) && existsSync(`${root}servers/${name}/index.ts`),
  )
  return [
    // First of all: what comes after it parses with zod.
    `import './servers/episodes/playground/page/without-eval.js'`,
    `import { start } from './servers/episodes/playground/page/main.js'`,
    `import tasks from './servers/episodes/playground/tasks.jsonl'`,
    `import attackGroups from './servers/episodes/playground/attack-groups.jsonl'`,
    ...environments.map((name) => `import * as ${name} from './servers/${name}/index.js'`),
    `start({ environments: [${environments.join(', ')}], tasks, attackGroups })`,
  ].join('\n')
}

export async function buildPlayground() {
  const { metafile, outputFiles } = await build({
    stdin: { contents: entry(), resolveDir: root, loader: 'ts' },
    outfile: `${PLAYGROUND}/playground.js`,
    ...{ bundle: true, minify: true, write: false, metafile: true, legalComments: 'none' },
    // A script, not a module: browsers run no modules from a folder that no server gives.
    ...{ format: 'iife', platform: 'browser', target: 'es2023', charset: 'utf8' },
    loader: { '.jsonl': 'text' },
    plugins: [ownModules],
    logLevel: 'warning',
  })
  const outside = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  if (outside.length > 0)
    throw new Error(
      `the playground imports ${outside.join(', ')}, which browsers lack; import less, or add a replacement in scripts/build-playground.mjs`,
    )
  mkdirSync(PLAYGROUND, { recursive: true })
  writeFileSync(`${PLAYGROUND}/playground.js`, outputFiles[0].contents)
  const styles = [`${root}coordinator/dashboard/assets/dashboard.css`, `${source}/playground.css`]
  writeFileSync(`${PLAYGROUND}/playground.css`, styles.map((path) => readFileSync(path, 'utf8')).join('\n'))
  writeFileSync(`${PLAYGROUND}/icon.svg`, readFileSync(`${root}coordinator/dashboard/assets/icon.svg`))
  writeFileSync(`${PLAYGROUND}/index.html`, readFileSync(`${source}/index.html`))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPlayground()
