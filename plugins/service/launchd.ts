import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import { bytesText } from '#lib/format'
import { serviceErrors } from './error-codes.ts'
import { RECEIPT } from './receipt.ts'
import { complaint, type ProgramResult, runProgram, type ServiceManager } from './service-manager.ts'
import { type ServiceSetting, stopSeconds } from './setting.ts'

/** Above this a person should know how large the log is: nothing bounds it. */
const LARGE_LOG = 50 * 2 ** 20

const END_MS = 90_000
const POLL_MS = 200

/** The launchd of the user's session. */
export const launchd = (home: string, io: Io): ServiceManager => {
  const domain = `gui/${userInfo().uid}`
  const [file, log] = [join(home, `Library/LaunchAgents/${LABEL}.plist`), join(home, `Library/Logs/${LABEL}.log`)]
  const call = (...args: readonly string[]): Promise<ProgramResult> => runProgram('launchctl', args, io)
  const done = async (...args: readonly string[]): Promise<void> => {
    const result = await call(...args)
    if (result.code !== 0)
      throw new GuardError(
        serviceErrors.SERVICE_FAILED,
        `"launchctl ${args.join(' ')}" failed: ${complaint(result)}. Agents start in the session of a user who is logged in at the screen.`,
      )
  }
  /** launchd answers before the gateway has ended, and loads nothing of that name until then. */
  const gone = async (): Promise<void> => {
    for (let waited = 0; waited < END_MS && (await call('print', `${domain}/${LABEL}`)).code === 0; waited += POLL_MS)
      await setTimeout(POLL_MS)
  }
  return {
    file,
    log: `tail -f ${log}`,
    restart: `launchctl kickstart -k ${domain}/${LABEL}`,
    log_file: log,
    text: (setting) => plistText(setting, log),
    async start() {
      await call('bootout', `${domain}/${LABEL}`)
      await gone()
      await done('enable', `${domain}/${LABEL}`)
      await done('bootstrap', domain, file)
    },
    async stop() {
      await call('bootout', `${domain}/${LABEL}`)
    },
    async forget() {},
    async state() {
      const { code, out } = await call('print', `${domain}/${LABEL}`)
      const running = /^\s*state = running$/m.test(out)
      const pid = Number(/^\s*pid = (\d+)$/m.exec(out)?.[1] ?? 0)
      const exit = Number(/^\s*last exit code = (\d+)/m.exec(out)?.[1] ?? 0)
      return {
        enabled: code === 0,
        running,
        ended: code !== 0 || (!running && exit !== 0),
        pid: pid > 0 ? pid : null,
        since: null,
        exit_code: running ? null : exit || null,
      }
    },
    async lastLines() {
      return endOf(log).trimEnd().split('\n').slice(-5).join('\n')
    },
    async notices() {
      const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0
      return bytes < LARGE_LOG
        ? []
        : [`The log has ${bytesText(bytes)}, and launchd bounds it not; this empties it: : > ${log}`]
    },
  }
}

const END_BYTES = 8_192

/** The end of a file; empty if it cannot be read. */
const endOf = (file: string): string => {
  try {
    const handle = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(END_BYTES)
      const read = readSync(handle, bytes, 0, END_BYTES, Math.max(0, fstatSync(handle).size - END_BYTES))
      return bytes.toString('utf8', 0, read)
    } finally {
      closeSync(handle)
    }
  } catch {
    return ''
  }
}

const LABEL = 'guard-gateway'

/** The text of a property list for a launch agent. Node reads the keys, which launchd cannot. */
export const plistText = ({ command, folder, path, keys, config }: ServiceSetting, log: string): string => {
  const [node = '', ...more] = command
  const args = [node, `--env-file-if-exists=${keys}`, ...more]
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "guard service install", which replaces it unless it was edited. -->
<!-- ${RECEIPT} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(LABEL)}
  <key>ProgramArguments</key>
  <array>
${args.map((word) => `    ${text(word)}`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  ${text(folder)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${text(path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds(config)}</integer>
  <key>StandardOutPath</key>
  ${text(log)}
  <key>StandardErrorPath</key>
  ${text(log)}
</dict>
</plist>
`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A string; a parser would make a line feed of a carriage return. Throws USAGE for what XML cannot hold. */
const text = (value: string): string => {
  if (/[\u0000-\u0008\u000b\u000c\u000d\u000e-\u001f\ufffe\uffff]/.test(value))
    throw new GuardError(
      'USAGE',
      `${JSON.stringify(value)} cannot stand in a property list: it has a control character. Move it to another path.`,
    )
  return `<string>${value.replace(/[&<>]/g, (char) => ENTITIES[char] ?? char)}</string>`
}
