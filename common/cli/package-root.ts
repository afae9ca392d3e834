import { fileURLToPath } from 'node:url'

/** Folder of the package, ending in a slash, with the files that are not compiled into `dist/`. */
export const packageRoot = fileURLToPath(
  new URL(import.meta.url.includes('/dist/common/') ? '../../../' : '../../', import.meta.url),
)
