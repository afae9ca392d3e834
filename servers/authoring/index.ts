/** `prove-swarm/worlds`: worlds of one's own, for programs of one's own. */
export { admitWorlds, CATALOGUE } from '../catalogue.js'
export { checkWorld } from './check-environment.js'
export { ContractBreach } from './contract/breach.js'
export { WorldFolderError } from './errors.js'
export { WORLD_KIT, type WorldKit } from './kit.js'
