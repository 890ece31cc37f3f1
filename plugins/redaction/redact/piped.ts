import { ALNUM, classOf, isBlank } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { isChosen } from './opaque.ts'
import { isExpression, isPlaceholder } from './placeholders.ts'
import type { Shape } from './scan.ts'

/** Programs that read a password from what is piped into them. */
const READS =
  /^\| *(?:sudo +(?:-[\w-]+ +){0,4}-\w*S\b|(?:[\w./-]{1,64} +){1,5}--(?:password|token|passphrase|secret|with)-(?:stdin|token|fd)\b|(?:sudo +)?(?:chpasswd|cryptsetup|kinit|vncpasswd|gh +auth +login|passwd +--stdin)\b)/
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

/** The last words of the command are the password: `htpasswd -b file user password`, `wpa_passphrase network password`. */
const LAST_WORD =
  /^(?:htpasswd(?: +-[ac-zA-Z0-9]{1,4}){0,3} +-[ac-zA-Z0-9]{0,4}b\w{0,4}(?: +-\w{1,4}){0,3}(?: +[^\s|;&-][^\s|;&]{0,100}){1,2} +|wpa_passphrase +[^\s|;&]{1,64} +|net +use\b[^\n|;]{0,160}?\/user:\S+ +|net +use +\S+ +\\\\\S+ +(?=\S+ +\/user:)|net +user +[^\s/|;&]+ +)(?=[^\s/|;&*-])/i

/** Programs and devices that take a key or a password by its place, or behind an option of their own. */
const BY_PLACE = new RegExp(
  `^(?:${[
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
    'sp_addlogin +N?.[\\w.-]{1,60}., *N?',
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
  return isChosen(value) ? whole(text, start, value) : undefined
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
  return found[0].includes(':') || isChosen(value) ? whole(text, start, value) : undefined
}
