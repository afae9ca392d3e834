import { z } from 'zod'
import * as dates from '../kernel/dates.js'
import {
  addressIn,
  ascending,
  CITIES,
  choices,
  choose,
  chooseByDraws,
  common,
  defineEnvironment,
  descending,
  PAGE,
  pickFrom,
  ref,
  sensitive,
  streetsOf,
  toolMaker,
  undecided,
} from '../kernel/index.js'
import * as text from '../kernel/text.js'

/**
 * Everything that an environment from outside this package is made with. The environment receives the kit and imports nothing of this package.
 * So it runs on the kernel of the program that loads it, and contains no files but its own.
 */
export const ENVIRONMENT_KIT = {
  z,
  defineEnvironment,
  toolMaker,
  undecided,
  ref,
  sensitive,
  common,
  PAGE,
  ascending,
  descending,
  choose,
  chooseByDraws,
  choices,
  pickFrom,
  addressIn,
  CITIES,
  streetsOf,
  ...dates,
  ...text,
} as const

/** Type of the kit. */
export type EnvironmentKit = typeof ENVIRONMENT_KIT
