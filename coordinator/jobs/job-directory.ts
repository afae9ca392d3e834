import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes a folder of files into the job directory under a temporary name, syncs it and renames it. So readers see all of the folder or
 * nothing. Does nothing when the folder exists already.
 */
export async function publishFolder(folder: string, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  if (await exists(folder)) return
  const draft = `${folder}.tmp`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true })
  for (const [name, data] of Object.entries(files)) await writeSynced(join(draft, name), data)
  await syncFolder(draft)
  await rename(draft, folder)
  await syncFolder(dirname(folder))
}

/** Writes a single file into the job directory in the same way. */
export async function publishFile(path: string, data: Uint8Array): Promise<void> {
  if (await exists(path)) return
  await mkdir(dirname(path), { recursive: true })
  await writeSynced(`${path}.tmp`, data)
  await rename(`${path}.tmp`, path)
  await syncFolder(dirname(path))
}

/** Whether a path exists. @throws other errors of the file system */
export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== null
}

/** Returns what was read; null: the file does not exist. @throws any other error */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return null
    throw why
  }
}

async function writeSynced(path: string, data: Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(data)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
