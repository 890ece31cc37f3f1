import { ALNUM, classOf, isBlank, isSpace } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { isChosen, isHuman } from './opaque.ts'
import { isExpression, isOdd, isPlaceholder } from './placeholders.ts'
import type { Scan, Shape } from './scan.ts'
import { isQuoted, quotedValue } from './values.ts'

const bareValue = (scan: Scan, from: number): Hit | undefined => {
  const end = scan.unquotedEnd(from)
  const value = scan.text.slice(from, Math.min(end, from + 300))
  return value === '' || marksAt(scan.text, from) || isPlaceholder(value)
    ? undefined
    : { start: from, end, kind: 'name' }
}

const afterBlanks = (text: string, from: number): number => {
  let at = from
  while (at < from + 16 && isSpace(text.charCodeAt(at)) && at < text.length) at++
  return at
}

/** `IDENTIFIED BY '…'` and `IDENTIFIED WITH plugin BY '…'` of SQL, Oracle's without quotes; triggered at the word. */
export const identifiedBy: Shape = (scan, at) => {
  const { text } = scan
  const found = /^identified(?: +(?:with|via) +[\w"'`]{1,64})? +(?:by|using|as)(?: +values| +password)? +(?=\S)/i.exec(
    text.slice(at, at + 128),
  )
  if (found === null) return undefined
  const from = at + found[0].length
  if (isQuoted(text, from)) return quotedValue(text, from, 'name')
  return /^IDENTIFIED +BY +(?!(?:VALUES|RANDOM|EXTERNALLY|GLOBALLY)\b)[\w$#]{6}/.test(text.slice(at, at + 80))
    ? bareValue(scan, from)
    : undefined
}

/** Fields before the password in a line of a pgpass file, from the port on, and the password. */
const PGPASS =
  /:(\d{2,5}|\*):(\*|(?!\d+:)[^\s:\\]{1,64}):(?:\*|[^\s:\\]{1,64}):((?:[^\s:"'`\\]|\\(?![nr"])\S){1,512})(?=$|[\s"'`\\])/y
const HOST = /(?:^|[\s"'`])(\*|[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}|\d{1,3}(?:\.\d{1,3}){3})$/
const SOURCE_FILE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|c|cc|cpp|h|hpp|cs|php|swift|scala|sh|ya?ml|json|toml|md|html?|s?css|sql|vue|txt|log)$/i
/** Where PostgreSQL and its poolers listen. */
const DATABASE_PORT = /^(?:\*|543\d|6432|6543|26257|25060)$/

/** The password of a line `host:port:database:user:password`; triggered at the first colon. */
export const pgpassLine: Shape = ({ text }, at) => {
  PGPASS.lastIndex = at
  const [all = '', port = '', , value = ''] = PGPASS.exec(text) ?? []
  const host = value === '' ? undefined : HOST.exec(text.slice(Math.max(0, at - 257), at))?.[1]
  if (host === undefined || SOURCE_FILE.test(host)) return undefined
  // a plain word behind the port of something else makes it another kind of list
  const isPassword = DATABASE_PORT.test(port) || isOdd(value)
  const end = at + all.length
  return isPassword && !marksAt(value, 0) && !isPlaceholder(value)
    ? { start: end - value.length, end, kind: 'name' }
    : undefined
}

/** Logins of mail and file transfer as they go over the wire: `AUTH PLAIN …`, `PASS …` behind `USER …`. */
export const wireLogin: Shape = (scan, at) => {
  const { text } = scan
  const auth = /^AUTH[ =](?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)[ \t]+(?=[A-Za-z0-9+/]{8})/.exec(text.slice(at, at + 40))
  if (auth !== null) return bareValue(scan, at + auth[0].length)
  const command = /^(?:AUTH|PASS|LOGIN)[ \t]+(?:[\w@."-]{1,64}[ \t]+)?(?=\S{8,200}[ \t]*(?:\r?\n|$))/.exec(
    text.slice(at, at + 300),
  )
  if (command !== null && /(?:^|\n)[\w.*-]{0,8} ?$/.test(text.slice(Math.max(0, at - 12), at))) {
    const hit = bareValue(scan, at + command[0].length)
    if (hit !== undefined && isChosen(text.slice(hit.start, hit.end))) return hit
  }
  if (!text.startsWith('PASS', at) || !isBlank(text.charCodeAt(at + 4))) return undefined
  const before = text.slice(Math.max(0, at - 200), at)
  if (!/(?:^|\n)[^\n]{0,16}(?:USER \S{1,64}|331 [^\n]{0,100})\r?\n(?:[^\n]{0,80}\r?\n)?[^\n]{0,16}$/.test(before))
    return undefined
  return bareValue(scan, afterBlanks(text, at + 4))
}

/** Programs that read a password from what is piped into them. */
const READER = String.raw`(?:sudo +(?:-[\w-]+ +){0,4}-\w*S\b|(?:[\w./-]{1,64} +){1,5}--(?:password|token|passphrase|secret|with)-(?:stdin|token|fd)\b|(?:sudo +)?(?:chpasswd|cryptsetup|kinit|vncpasswd|gh +auth +login|passwd +--stdin)\b)`
const READS = new RegExp(String.raw`^\| *${READER}`)
const PRINTED =
  /(?:^|[\s;&(`"'])(?:echo|printf)(?: +-\w+){0,3} +(?:["']?%s(?:\\n)?["']? +)?(?:\\?(["'])([^"'\n]{3,200}?)\\?\1|([^\s"']{3,200})) *$/

/** What `echo` prints into a program that reads a password; triggered at the bar. */
export const pipedPassword: Shape = ({ text }, at) => {
  if (text.charCodeAt(at - 1) !== 0x20 || !READS.test(text.slice(at, at + 200))) return undefined
  const from = Math.max(0, at - 256)
  const found = PRINTED.exec(text.slice(from, at))
  const value = found?.[2] ?? found?.[3] ?? ''
  if (found === null || marksAt(value, 0) || isPlaceholder(value) || value.startsWith('$')) return undefined
  const start = from + found.index + found[0].lastIndexOf(value)
  return { start, end: start + value.length, kind: 'name' }
}

const whole = (text: string, start: number, value: string): Hit | undefined =>
  marksAt(text, start) || isPlaceholder(value) || isExpression(value)
    ? undefined
    : { start, end: start + value.length, kind: 'name' }

/** `--password-file=<(echo …)`, and a here-string for a program that reads a password; triggered at the first sign. */
export const substituted: Shape = ({ text }, at) => {
  const found = SUBSTITUTED.exec(text.slice(at, at + 300))
  const before = text.slice(Math.max(0, at - 160), at)
  if (found === null || !(found[1] === undefined ? READS_HERE : NAMES_SECRET).test(before)) return undefined
  const value = found[3] ?? ''
  return value.startsWith('$') ? undefined : whole(text, at + found[0].length - value.length, value)
}
const SUBSTITUTED = /^(?:(<\( *(?:echo|printf)(?: +-\w+)* +(?:["']?%s(?:\\n)?["']? +)?)|<<< *)(["']?)([^\s"')]{4,200})/
const NAMES_SECRET = /(?:pass\w*|secret|token|key|cred\w*)(?:[-_]?(?:file|fd|from))?[= ] *["']?$/i
const READS_HERE = new RegExp(String.raw`${READER}[^\n|;]{0,80}$`)

/** The last words of the command are the password: `htpasswd -b file user password`, `wpa_passphrase network password`. */
const LAST_WORD =
  /^(?:htpasswd(?: +-[ac-zA-Z0-9]{1,4}){0,3} +-[ac-zA-Z0-9]{0,4}b\w{0,4}(?: +-\w{1,4}){0,3}(?: +[^\s|;&-][^\s|;&]{0,100}){1,2} +|wpa_passphrase +[^\s|;&]{1,64} +|net +use\b[^\n|;]{0,160}?\/user:\S+ +|net +use +\S+ +\\\\\S+ +(?=\S+ +\/user:)|net +user +[^\s/|;&]+ +)(?=[^\s/|;&*-])/i

/** Programs and devices that take a key or a password by its place, or behind an option of their own. */
const BY_PLACE = new RegExp(
  `^(?:${[
    '(?:sqlplus|rman)(?: +-\\w+)* +["\']?[\\w$#]{1,64}/',
    '(?:sqlldr|impdp|expdp)(?: +-\\w+)* +["\']?[\\w$#]{1,64}/(?=[^@\\s]{3,64}@)',
    '(?:cargo|vault|snyk|railway|hcp|render|pulumi) +(?:login|auth) +',
    '(?:poetry|composer) +config +(?:http-basic|pypi-token)\\.\\S{1,60} +(?:[\\w@.-]{1,60} +(?=\\S))?',
    'git +config +(?:--\\w+ +)?[\\w.]{0,60}token +',
    'gh +(?:secret|variable) +set +[\\w-]{1,80} +(?:--body|-b)[ =]?',
    'rclone +config +create +[^\\n|;]{1,100} pass +',
    'bw +(?:unlock|login +\\S{1,100}) +',
    'consul +acl +set-agent-token +\\w+ +',
    'mc +alias +set +\\S{1,60} +\\S{1,100} +\\S{1,60} +',
    'az +keyvault +secret +set +[^\\n|;]{1,160}--value[ =]',
    'gem +push +[^\\n|;]{1,100}--key[ =]',
    'mysqladmin +[^\\n|;]{0,100}password +',
    'snmp-server +community +',
    'key-string +(?:\\d +)?',
    'crypto +isakmp +key +(?:\\d +)?',
    'ip +ospf +(?:message-digest|authentication)-key +(?:\\d+ +md5 +)?(?:\\d +)?',
    '(?:radius|tacacs)-server +[^\\n]{0,80}key +(?:\\d +)?',
    'set +(?:security|system|vpn|protocols) +[^\\n]{1,120}(?:ascii-text|password-value|secret) +',
    'stats +auth +[\\w.-]{1,40}:',
    'basicauth +(?:\\{ *)?[\\w.-]{1,40} +',
    '(?:add_user|create_user|change_password|set_password|mosquitto_passwd|smbpasswd|addprinc)(?: +-\\w+)* +[\\w.@/-]{1,60} +(?:[\\w.@/-]{1,60} +(?=[^\\s|;&]+ *(?:$|[\\n;|&])))?',
    'ACL +SETUSER +\\S+ [^\\n>]{0,80}>',
    'sp_addlogin +N?.[\\w.-]{1,60}., *N?',
    "sp_addlinkedsrvlogin +[^\\n;]{1,160}, *N?(?='[^'\\s,]{4,100}'[ \\t]*(?:$|[\\n;-]))",
    'db2 +connect +to +\\w+ +user +\\w+ +using +',
    'iwconfig +\\w+ +key +(?:s:)?',
    'NickServ +(?:IDENTIFY|identify) +(?:\\w{1,30} +(?=\\S+ *(?:$|\\n)))?',
    'send +(?:-- +|-s +)?(?=\\\\?["\'][^\\s"\']{8,100}\\\\[rn])',
    'jdbc:oracle:(?:thin|oci):[\\w$#]{1,64}/(?=[^@\\s]+@)',
  ].join('|')})\\\\?["']?(?!-)`,
)

/** A key in its place among the arguments of a program; triggered at the program's name. */
export const placedArgument: Shape = ({ text }, at) => {
  if ((classOf(text.charCodeAt(at - 1)) & ALNUM) !== 0) return undefined
  const found = BY_PLACE.exec(text.slice(at, at + 240))
  if (found === null) return undefined
  const start = at + found[0].length
  const value = /^[^\s"'|;&@\\]{8,256}/.exec(text.slice(start, start + 260))?.[0] ?? ''
  return isHuman(value) ? whole(text, start, value) : undefined
}

/** A password as the last argument of a program; triggered at the program's name. */
export const lastArgument: Shape = ({ text }, at) => {
  if ((classOf(text.charCodeAt(at - 1)) & ALNUM) !== 0) return undefined
  const found = LAST_WORD.exec(text.slice(at, at + 400))
  if (found === null) return undefined
  const start = at + found[0].length
  return whole(text, start, /^["']?([^\s"'\\]{0,256})/.exec(text.slice(start, start + 260))?.[1] ?? '')
}

/** `/p:password` of Windows' programs; triggered at the slash. */
export const slashOption: Shape = ({ text }, at) => {
  const next = text.charCodeAt(at + 1) | 0x20
  if ((next !== 0x70 && next !== 0x72) || !isBlank(text.charCodeAt(at - 1))) return undefined
  const found = /^\/(?:p|pass|password|rp)(?::| +)(["']?)(?=[^\s"'])/i.exec(text.slice(at, at + 16))
  if (found === null) return undefined
  const start = at + found[0].length
  const value =
    (found[1] === '' ? /^[^\s"']{1,256}/ : /^[^"'\n]{1,256}/).exec(text.slice(start, start + 260))?.[0] ?? ''
  return found[0].includes(':') || isHuman(value) ? whole(text, start, value) : undefined
}
