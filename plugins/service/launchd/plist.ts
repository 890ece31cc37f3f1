import { GuardError } from 'guard-gateway/core'
import { RECEIPT } from '../receipt.ts'
import { type ServiceSetting, stopSeconds } from '../setting.ts'

export const LABEL = 'guard-gateway'

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
