import { NodeError } from '../report/errors.js'

/** A program that the system starts with the session of a user, and restarts after a failure. */
export interface Service {
  /** The program and its arguments, all paths absolute. */
  readonly command: readonly string[]
  readonly workingDirectory: string
  /** File for the output, on systems that keep none. */
  readonly logFile: string
}

/** Name of the unit for systemd, and label of the agent for launchd. */
export const UNIT_NAME = 'prove-node.service'
export const AGENT_LABEL = 'org.prove-swarm.node'

/** Pause before a restart after a failure (s). */
const PAUSE_S = 60

/** Checks text for a service file. @throws NodeError `no_service` for control characters */
function checkText(text: string): string {
  if (/[\p{Cc}\ufffe\uffff]/u.test(text))
    throw new NodeError('no_service', `a service file cannot contain control characters: ${JSON.stringify(text)}`)
  return text
}

/** Quotes a word for systemd, which expands `%` and `$`. */
const unitWord = (word: string): string =>
  `"${checkText(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`

/** Writes a unit for systemd's user manager (systemd.service(5)). */
export const unitFile = ({ command, workingDirectory }: Service): string =>
  [
    '[Unit]',
    'Description=Volunteer of a PROVE swarm',
    // After ten failures in an hour, systemd stops restarting the node.
    'StartLimitIntervalSec=3600',
    'StartLimitBurst=10',
    '',
    '[Service]',
    `ExecStart=${command.map(unitWord).join(' ')}`,
    `WorkingDirectory=${checkText(workingDirectory).replaceAll('%', '%%')}`,
    // A complete run and `prove-node finish` end the node with status 0.
    'Restart=on-failure',
    `RestartSec=${PAUSE_S}`,
    'TimeoutStopSec=60',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')

const xml = (text: string): string =>
  checkText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Writes an agent for launchd (launchd.plist(5)). */
export const agentFile = ({ command, workingDirectory, logFile }: Service): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${AGENT_LABEL}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...command.map((word) => `    <string>${xml(word)}</string>`),
    '  </array>',
    `  <key>WorkingDirectory</key><string>${xml(workingDirectory)}</string>`,
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    `  <key>ThrottleInterval</key><integer>${PAUSE_S}</integer>`,
    '  <key>ProcessType</key><string>Background</string>',
    `  <key>StandardOutPath</key><string>${xml(logFile)}</string>`,
    `  <key>StandardErrorPath</key><string>${xml(logFile)}</string>`,
    '  <key>Umask</key><integer>63</integer>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n')
