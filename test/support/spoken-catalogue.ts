import { withSpeech } from '../../servers/load-speech.js'
import { CATALOGUE as PLAIN } from './catalogue.js'

/** Every environment of the project with its speech, by name. */
export const CATALOGUE = new Map([...PLAIN].map(([name, environment]) => [name, withSpeech(environment)]))
