const { MAY_IMPORT, COORDINATOR_SUBPACKAGES, KERNEL_ONLY, ONE_ADAPTER } = require('./scripts/import-rules.cjs')

/** The base of every package's errors. */
const GROUND = 'common/errors'
const packages = Object.keys(MAY_IMPORT)
const subpackages = Object.keys(COORDINATOR_SUBPACKAGES)
/** The folders of a package, without those of a package within it: `servers/` is one, and `servers/episodes/` another. */
const filesOf = (name) => {
  const within = packages.filter((other) => other.startsWith(`${name}/`)).map((other) => other.slice(name.length + 1))
  return within.length === 0 ? `${name}/` : `${name}/(?!(${within.join('|')})/)`
}
const anyOf = (names) => `^(${names.map(filesOf).join('|')})`
const othersThan = (all, own, allowed) => all.filter((other) => other !== own && !allowed.includes(other))

module.exports = {
  forbidden: [
    ...packages.map((name) => ({
      name: `packages-${name}`,
      severity: 'error',
      from: { path: `^${filesOf(name)}` },
      to: { path: anyOf(othersThan(packages, name, MAY_IMPORT[name])) },
    })),
    ...subpackages.map((name) => ({
      name: `subpackages-${name}`,
      severity: 'error',
      from: { path: `^coordinator/${name}/` },
      to: {
        path: `^coordinator/((${othersThan(subpackages, name, COORDINATOR_SUBPACKAGES[name]).join('|')})/|main\\.ts)`,
      },
    })),
    {
      name: 'ground',
      comment: 'The base of the errors imports no package.',
      severity: 'error',
      from: { path: `^${GROUND}/` },
      to: { path: anyOf(packages) },
    },
    {
      name: 'every-file-in-a-package',
      comment: 'A file next to the packages of a group has no place in their order.',
      severity: 'error',
      from: { path: '^(common|rollout|tasks)/[^/]+\\.ts$' },
      to: {},
    },
    {
      name: 'every-file-in-a-subpackage',
      comment: 'A file next to the subpackages has no place in their order.',
      severity: 'error',
      from: { path: '^coordinator/[^/]+\\.ts$', pathNot: '^coordinator/main\\.ts$' },
      to: {},
    },
    {
      name: 'kernel-only',
      severity: 'error',
      from: { path: `^(${KERNEL_ONLY.join('|')})/` },
      to: { path: '^servers/(?!kernel/)' },
    },
    {
      name: 'kernel-knows-no-environment',
      severity: 'error',
      from: { path: '^servers/kernel/' },
      to: { path: '^servers/(?!kernel/)' },
    },
    {
      name: 'authoring-knows-no-environment',
      comment: 'Our environments are checked and loaded by the same code as those of other authors.',
      severity: 'error',
      from: { path: '^servers/authoring/' },
      to: { path: '^servers/(?!kernel/|authoring/|(catalogue|load-speech)\\.ts)' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      from: { path: anyOf(packages) },
      to: { path: '^(test|scripts)/' },
    },
    ...Object.entries(ONE_ADAPTER).map(([name, adapter]) => ({
      name: `one-adapter-${name.replaceAll(/[^a-z]+/g, '-')}`,
      severity: 'error',
      from: { path: anyOf(packages), pathNot: adapter },
      to: { path: `node_modules/${name}/` },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '^proto/gen/' },
  },
}
