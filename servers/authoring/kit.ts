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
 * What a world from outside this package is made with. It is handed to the world, which imports nothing of ours: so a world runs on
 * the kernel of the program that loads it, whatever is installed beside its folder, and its own files are all there is of it.
 */
export const ENVIRONMENT_KIT = {
  z,
  defineServer: defineEnvironment,
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

export type EnvironmentKit = typeof ENVIRONMENT_KIT
