import { GuardError } from 'guard-gateway/core'
import { RECEIPT } from '../receipt.ts'
import { type ServiceSetting, stopSeconds } from '../setting.ts'

/** The text of a user unit. */
export const unitText = ({
  command,
  folder,
  path,
  keys,
  config,
}: ServiceSetting): string => `# Written by "guard service install", which replaces it unless it was edited.
# ${RECEIPT}
[Unit]
Description=Guard Gateway
StartLimitIntervalSec=0

[Service]
ExecStart=${commandLine(command)}
WorkingDirectory=${plainPath(folder)}
Environment=${quoted(`PATH=${path}`)}
# keys, NAME=value; mode 0600
EnvironmentFile=-${pattern(plainPath(keys))}
Restart=on-failure
RestartSec=5
# a wrong command line or configuration${config.shared ? '' : ', a port or a database that is taken'}: a person has to look
RestartPreventExitStatus=2 ${config.shared ? '' : '69 '}78
# MCP servers end with the gateway, which gets the signal first
KillMode=mixed
# where memory is short, the system ends the process of parsers, which starts again
OOMPolicy=continue
# longer than server.shutdown_grace_seconds
TimeoutStopSec=${stopSeconds(config)}
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`

/** systemd starts no program whose path has quotes or a backslash; `env` does. */
const commandLine = (command: readonly string[]): string => {
  const [program = '', ...args] = /["'\\]/.test(command[0] ?? '') ? ['/usr/bin/env', ...command] : command
  return [quoted(program), ...args.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ')
}

/** A word of a command line: quotes, escapes as in C, and no specifiers. */
const quoted = (word: string): string => `"${escaped(word).replaceAll('%', '%%')}"`

const escaped = (word: string): string =>
  word
    .replace(/["\\]/g, '\\$&')
    .replace(/[\u0001-\u001f\u007f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** A path where systemd reads a pattern of files. */
const pattern = (path: string): string => path.replace(/[\\*?[]/g, '\\$&')

/** A path that stands unquoted to the end of its line. Throws USAGE for one that cannot. */
const plainPath = (path: string): string => {
  if (/[\u0000-\u001f\u007f]|[\s\\]$/.test(path))
    throw new GuardError(
      'USAGE',
      `${JSON.stringify(path)} cannot stand in a unit of systemd: it has a line break, or ends with a blank or a backslash. Move it to another path.`,
    )
  return path.replaceAll('%', '%%')
}
