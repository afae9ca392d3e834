/** `prove-swarm/environments`: environments from outside the project, for other programs. */
export { admitEnvironments, environmentNames, loadEnvironments } from '../catalogue.js'
export { checkEnvironment } from './check-environment.js'
export { ContractBreach } from './contract/breach.js'
export { EnvironmentFolderError } from './errors.js'
export { ENVIRONMENT_KIT, type EnvironmentKit } from './kit.js'
