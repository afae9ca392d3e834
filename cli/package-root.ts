import { fileURLToPath } from 'node:url'

/** Folder of the package, ending in a slash: what is not compiled into `dist/` lies there. */
export const packageRoot = fileURLToPath(
  new URL(import.meta.url.includes('/dist/cli/') ? '../../' : '../', import.meta.url),
)
