const {
  MAY_IMPORT,
  COORDINATOR_SUBPACKAGES,
  NODE_SUBPACKAGES,
  KERNEL_ONLY,
  ONE_ADAPTER,
} = require('./scripts/import-rules.cjs')

/** The base of every package's errors. */
const GROUND = 'common/errors'
const packages = Object.keys(MAY_IMPORT)
/** Packages that are divided, with the rules of their subpackages. */
const DIVIDED = { coordinator: COORDINATOR_SUBPACKAGES, node: NODE_SUBPACKAGES }
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
    ...Object.entries(DIVIDED).flatMap(([name, rules]) =>
      Object.entries(rules).map(([subpackage, allowed]) => ({
        name: `subpackages-${name}-${subpackage}`,
        severity: 'error',
        from: { path: `^${name}/${subpackage}/` },
        to: { path: `^${name}/((${othersThan(Object.keys(rules), subpackage, allowed).join('|')})/|main\\.ts)` },
      })),
    ),
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
      from: { path: `^(${Object.keys(DIVIDED).join('|')})/[^/]+\\.ts$`, pathNot: '^[^/]+/main\\.ts$' },
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
      comment: 'The same code checks and loads our environments and those of other authors.',
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
