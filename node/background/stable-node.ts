import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Returns the path of Node.js for a service file. Package managers keep a link to the current version, such as `/opt/homebrew/bin/node`,
 * and remove the versioned folder with an update. So a link in PATH to this very program is preferred.
 */
export function stableNode(executable: string, path: string): string {
  const here = realpathOf(executable)
  if (here === null) return executable
  const links = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, 'node'))
  return links.find((link) => link !== executable && realpathOf(link) === here) ?? executable
}

function realpathOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
