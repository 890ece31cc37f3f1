import { userInfo } from 'node:os'
import { join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import { serviceErrors } from './error-codes.ts'
import { RECEIPT } from './receipt.ts'
import { complaint, type ProgramResult, runProgram, type ServiceManager } from './service-manager.ts'
import { type ServiceSetting, stopSeconds } from './setting.ts'

const UNIT = 'guard-gateway.service'

/** The user's own systemd. `folder` is that of the user's configuration files. */
export const systemd = (folder: string, io: Io): ServiceManager => {
  const call = (...args: readonly string[]): Promise<ProgramResult> => runProgram('systemctl', ['--user', ...args], io)
  const done = async (...args: readonly string[]): Promise<void> => {
    const result = await call(...args)
    if (result.code !== 0)
      throw new GuardError(
        serviceErrors.SERVICE_FAILED,
        `"systemctl --user ${args.join(' ')}" failed: ${complaint(result)}`,
      )
  }
  return {
    file: join(folder, 'systemd/user', UNIT),
    log: 'journalctl --user -u guard-gateway',
    restart: 'systemctl --user restart guard-gateway',
    text: unitText,
    async start() {
      await done('daemon-reload')
      await done('enable', UNIT)
      await call('reset-failed', UNIT)
      await done('restart', UNIT)
    },
    async stop() {
      await call('disable', '--now', UNIT)
    },
    async forget() {
      await call('daemon-reload')
      await call('reset-failed', UNIT)
    },
    async state() {
      const { out } = await call('show', UNIT, '--property', PROPERTIES.join())
      const found = new Map(out.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]))
      const active = found.get('ActiveState') ?? ''
      const pid = Number(found.get('MainPID') ?? 0)
      return {
        enabled: found.get('UnitFileState') === 'enabled',
        running: active === 'active',
        ended: active === 'failed' || active === 'inactive',
        pid: pid > 0 ? pid : null,
        since: active === 'active' ? found.get('ActiveEnterTimestamp') || null : null,
        exit_code: active === 'active' ? null : Number(found.get('ExecMainStatus') ?? 0) || null,
      }
    },
    async lastLines() {
      const { out } = await runProgram('journalctl', ['--user', '-u', UNIT, '-n', '5', '-o', 'cat', '--no-pager'], io)
      return out
    },
    async notices() {
      const { code, out } = await runProgram(
        'loginctl',
        ['show-user', userInfo().username, '-p', 'Linger', '--value'],
        io,
      )
      if (code === 0 && out.trim() === 'yes') return []
      return ['It runs while you are logged in. To have it run without, from boot on: loginctl enable-linger']
    },
  }
}

const PROPERTIES = ['ActiveState', 'MainPID', 'UnitFileState', 'ActiveEnterTimestamp', 'ExecMainStatus']

/** Why the user's systemd does not answer; undefined if it does. */
export const systemdFault = async (io: Io): Promise<string | undefined> => {
  const result = await runProgram('systemctl', ['--user', 'show', '--property', 'Version'], io)
  if (result.code === 0) return undefined
  return result.code === null ? 'there is no systemctl' : complaint(result)
}

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
