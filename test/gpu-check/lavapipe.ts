import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Folders in which Vulkan's loader finds driver manifests (Linux). */
const FOLDERS = ['/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/usr/share/vulkan/icd.d']
const NAME = /^lvp_icd\..*\.json$|^lvp_icd\.json$/

/**
 * What makes an engine compute on Mesa's Vulkan driver for CPUs, and on no other device: environment variables for its process.
 * A driver that the user has named goes before those of the system. Null: there is none.
 */
export function lavapipeEnvironment(env: NodeJS.ProcessEnv = process.env): Readonly<Record<string, string>> | null {
  const found = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => NAME.test(name))
      .map((name) => join(folder, name)),
  )
  const driver = env.VK_DRIVER_FILES ?? env.VK_ICD_FILENAMES ?? found[0]
  if (driver === undefined) return null
  return {
    VK_DRIVER_FILES: driver,
    // The loader's name for the same until 1.3.207.
    VK_ICD_FILENAMES: driver,
    // Unless devices are named, llama.cpp passes over those that are no GPU.
    GGML_VK_VISIBLE_DEVICES: '0',
    // A GPU of NVIDIA's would go before it.
    CUDA_VISIBLE_DEVICES: '',
  }
}
