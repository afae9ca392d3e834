// The jobs of the suite `counterparts`: one for each row that runs a real program against ours.
import { failure, pytestIn, skip, uvuFiles } from '../runner/jobs.mjs'
import { installRow, isInstalled, MissingPython } from './environments.mjs'
import { readRows } from './rows.mjs'

const TESTS = 'test/counterparts'

/**
 * Returns the jobs of the named rows. Where the suite is not named, as in `.ci/run`, it has the rows of every commit, and prints the
 * command for each of the others.
 * @param paths    `counterparts`, or `counterparts/<row>`
 * @param isNamed  whether the suite, or a part of it, was asked for
 */
export function counterpartJobs(paths, isNamed) {
  const rows = readRows()
  const asked = paths.filter((path) => path !== 'counterparts').map((path) => path.slice('counterparts/'.length))
  const unknown = asked.filter((name) => !rows.some((row) => row.name === name))
  const wanted = rows.filter(({ name, when }) =>
    asked.length > 0 ? asked.includes(name) : isNamed || when === 'commit',
  )
  if (!isNamed)
    for (const { name, when } of rows)
      if (when === 'nightly')
        console.log(`nightly only: counterparts/${name}; to run it: npm test -- counterparts/${name}`)
  return [
    ...unknown.map((name) => ({
      ...{ name: `counterparts/${name}`, needs: [] },
      run: async () => [
        failure(`counterparts/${name}`, `there is no such row; choose from ${rows.map((row) => row.name).join(', ')}`),
      ],
    })),
    ...wanted.map((row) => ({
      name: `counterparts/${row.name}`,
      isHeavy: true,
      needs: [...(row.torch || row.trainer ? ['python'] : []), ...(isInstalled(row) ? [] : ['pypi'])],
      run: () => runRow(row, installRow),
    })),
  ]
}

/** Installs and tests a row. @returns the results for the runner */
export async function runRow(row, install) {
  const name = `counterparts/${row.name}`
  if (row.npm) return uvuFiles([`dist/${TESTS}/${row.name}.test.js`])
  try {
    return [await pytestIn(await install(row), `${TESTS}/test_${row.name.replaceAll('-', '_')}.py`, name)]
  } catch (error) {
    return [error instanceof MissingPython ? skip(name, error.message) : failure(name, error.message)]
  }
}
