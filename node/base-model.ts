import { hashFile } from '../engine/index.js'
import { NodeError } from './errors.js'

/** SHA-256 (hex) of the base model. @throws NodeError `wrong_base` when it cannot be read */
export async function hashBaseModel(path: string): Promise<string> {
  try {
    return await hashFile(path)
  } catch (cause) {
    throw new NodeError('wrong_base', `the base model cannot be read: ${(cause as Error).message}`, { cause })
  }
}
