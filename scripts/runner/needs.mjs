// What tests need that a bare machine lacks. A test file names its needs in a comment on its first line: `// needs: python, chromium`.
// The runner reads that line without running the file, and skips the file where a need is missing.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { installPython } from '../setup.mjs'

/** Debian's package, unless PROVE_CHROMIUM names another Chromium. The tests' support/chromium.ts looks in the same place. */
const CHROMIUM = process.env.PROVE_CHROMIUM ?? '/usr/bin/chromium'
const isInstalled = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0

/**
 * `what` and `install` are shown where the need is missing. `lacks` returns null or the reason, which may be empty. A test file whose
 * text fits `impliedBy` has to declare the need.
 */
export const NEEDS = {
  chromium: {
    what: 'Chromium',
    install: 'apt-get install chromium, or PROVE_CHROMIUM',
    impliedBy: /support\/chromium\.js/,
    lacks: () => (existsSync(CHROMIUM) ? null : ''),
  },
  namespaces: {
    what: 'network namespaces (root, ip, tc, nft)',
    install: 'apt-get install iproute2 nftables',
    impliedBy: /support\/network-namespaces\.js/,
    async lacks() {
      const missing = ['ip', 'tc', 'nft'].filter((command) => !isInstalled(command))
      if (missing.length > 0) return `${missing.join(', ')} not found`
      const { lacksNamespaces } = await import('../../dist/test/support/network-namespaces.js')
      return lacksNamespaces()
    },
  },
  python: {
    what: "Python 3.10 or newer with the trainer's packages",
    install: 'apt-get install python3 python3-venv',
    impliedBy: /'\.venv'|'\.\/runs\.js'|attackers\/arena\.js/,
    async lacks() {
      try {
        await installPython(['requirements.txt', 'requirements-test.txt'])
        return null
      } catch (error) {
        // Without any Python, `what` and `install` say all.
        return error.code === 'no_python' ? '' : error.message
      }
    },
  },
  'npm-registry': {
    what: 'the npm registry',
    install: 'a network connection, or `npm config set registry`',
    impliedBy: null,
    lacks: () => (spawnSync('npm', ['ping'], { stdio: 'ignore', timeout: 60_000 }).status === 0 ? null : ''),
  },
  pypi: {
    what: 'the Python package index',
    install: 'a network connection, or `pip config set global.index-url`',
    impliedBy: null,
    lacks: () => {
      const args = ['-m', 'pip', 'index', 'versions', 'pip']
      return spawnSync('python3', args, { stdio: 'ignore', timeout: 60_000 }).status === 0 ? null : ''
    },
  },
  lavapipe: {
    what: "Mesa's Vulkan driver for CPUs",
    install: 'apt-get install mesa-vulkan-drivers libvulkan1',
    impliedBy: null,
    async lacks() {
      const { lavapipeEnvironment } = await import('../../dist/test/gpu-check/lavapipe.js')
      return lavapipeEnvironment() === null ? '' : null
    },
  },
}

/**
 * Reads the needs that a test file declares.
 * @throws Error if a need is unknown, or if the file imports what needs something that it does not declare
 */
export function needsOf(path) {
  const source = readFileSync(path, 'utf8')
  const declared = /^\/\/ needs: (.+)\n/.exec(source)?.[1].split(', ') ?? []
  const unknown = declared.find((need) => !Object.hasOwn(NEEDS, need))
  if (unknown !== undefined)
    throw new Error(`${path} needs "${unknown}", which is unknown; choose from ${Object.keys(NEEDS).join(', ')}`)
  const undeclared = Object.keys(NEEDS).find((need) => !declared.includes(need) && NEEDS[need].impliedBy?.test(source))
  if (undeclared !== undefined)
    throw new Error(
      `${path} uses what needs ${undeclared}; begin it with "// needs: ${[...declared, undeclared].join(', ')}"`,
    )
  return declared
}

const answers = new Map()

/** Returns why something needed is missing, in words for the user, or null. Each need is looked for once. */
export async function missing(need) {
  if (!answers.has(need)) answers.set(need, look(NEEDS[need]))
  return answers.get(need)
}

async function look({ what, install, lacks }) {
  const why = await lacks()
  return why === null ? null : `needs ${what} (${install})${why === '' ? '' : `: ${why.split('\n')[0]}`}`
}
