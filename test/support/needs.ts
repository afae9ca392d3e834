import { spawnSync } from 'node:child_process'
import type { Test } from 'uvu'

/**
 * Returns a function that registers a test which runs a command of the system. Without that command the test is reported as skipped,
 * with the package to install. A file all of whose tests need something declares the need in its first line instead.
 */
export function testWith(test: Test, command: string, install: string): (title: string, body: () => void) => void {
  const isInstalled = spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0
  return (title, body) => {
    if (isInstalled) {
      test(title, body)
      return
    }
    console.log(`skip ${title}: needs ${command} (apt-get install ${install})`)
    test.skip(title)
  }
}
