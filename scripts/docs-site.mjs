// Builds the documentation site into docs/.vitepress/dist/, or serves it while you write. Installs its packages in docs/ first, apart
// from those of the checkout, which are large enough. Usage: npm run docs:build, or node scripts/docs-site.mjs dev
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('../docs/', import.meta.url))
const stamp = `${docs}node_modules/.prove-setup`

const [mode = 'build'] = process.argv.slice(2)
if (!['build', 'dev', 'preview'].includes(mode)) {
  console.error(`docs-site: there is no mode "${mode}": choose from build, dev and preview`)
  process.exit(2)
}

const run = (command, args) => execFileSync(command, args, { cwd: docs, stdio: 'inherit' })
try {
  const lock = readFileSync(`${docs}package-lock.json`, 'utf8')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    console.error('docs-site: installing the packages of the site in docs/node_modules (102 MB)')
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
    writeFileSync(stamp, lock)
  }
  run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', mode])
} catch (error) {
  // The command has said what is wrong.
  process.exitCode = error.status ?? 1
}
