import { loadEnvironments } from '../../servers/catalogue.js'

/** Every environment of the project, by name. */
export const CATALOGUE = await loadEnvironments()
