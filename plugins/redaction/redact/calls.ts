import { runEnd, WORD } from './alphabet.ts'
import { isChosen, isHuman, isMade, namesOne } from './opaque.ts'
import type { Scan, Shape } from './scan.ts'

/** Steps of reading a call or a group. */
const STEPS = 260

/** What takes a user and a password, or a key, in a call. */
export const logins =
  'auth begin secretStr SecretStr HTTPBasicAuth SetBasicAuth basicAuth basic_auth NetworkCredential UsernamePasswordCredentials PasswordAuthentication getConnection createConnection mysqli_connect mysql_connect pg_connect PDO connect sign encode createHash createHmac hmac Hmac login Login'.split(
    ' ',
  )

/** The call of one of `logins`; triggered at the word. */
export const loginCall: Shape = (scan, at) => {
  const end = runEnd(scan.text, at, WORD, 40)
  if (/^ ?[(=:.]|^ ["']/.test(scan.text.slice(end, end + 2))) callLogin(scan, end)
  return undefined
}

/** The literals of a call that takes a user and a password: those that look like one. */
export const callLogin = (scan: Scan, end: number): void => {
  scan.spend(STEPS)
  const found = /^(?:\s?=?\s?(?:new\s)?\.?\w{0,20}[({[]| (?=["'][^"'\n]{1,64}["'], ?["']))([^)\n]{0,300})/.exec(
    scan.text.slice(end, end + 340),
  )
  if (found === null) return
  const from = end + found[0].length - (found[1] ?? '').length
  for (const { index, 2: value = '' } of (found[1] ?? '').matchAll(/(["'])([^"'\n]{1,200})\1/g)) {
    const start = from + index + 1
    if (isHuman(value) && !namesOne(value) && !/[:/@]/.test(value))
      scan.hits.push({ start, end: start + value.length, kind: 'name' })
  }
}

/** The name heads a group of secrets: `secrets: {…}`, the data of a secret of Kubernetes. */
export const isGroup = (text: string, name: string, end: number): boolean =>
  name === 'secrets' ||
  (/^(?:data|stringData)$/.test(name) &&
    /["']?kind["']?:[ \t]*["']?Secret\b/.test(text.slice(Math.max(0, end - 600), end)))

/** The members of a group, and of a block of YAML below it, that people or a generator made. */
export const group = (scan: Scan, end: number): void => {
  const found = GROUP.exec(scan.text.slice(end, end + 2_000))
  if (found === null) return
  scan.spend(found[0].length + STEPS)
  for (const { index, 0: member, 1: value = '' } of found[0].matchAll(MEMBER)) {
    const start = end + index + member.length - value.length
    if (isMade(value) || (isChosen(value) && /[A-Z!#%^*+=]/.test(value)))
      scan.hits.push({ start, end: start + value.length, kind: 'name' })
  }
}
const GROUP = /^["']?[ \t]*(?:[:=]|=>)?[ \t]*(?:\{[^}]{1,1800}|(?:\n[ \t]+[^\n]{1,300}){1,40})/
const MEMBER = /[\w"'-] {0,4}[:=]>? {0,4}["']?([^\s"',{}]{8,200})/g

/**
 * A literal before its name: `setValue("…", forHTTPHeaderField: "X-Api-Key")`, `MOVE '…' TO WS-PASSWORD`, `"…" as the
 * password`, `@Param("…") String password`.
 */
export const valueBefore = (scan: Scan, start: number, end: number): undefined => {
  const { text } = scan
  const from = Math.max(0, start - 260)
  const before = text.slice(from, start)
  const quote = before.slice(-1)
  const closes = (quote === '"' || quote === "'") && text[end] === quote && /[)\]\n]|^$/.test(text.charAt(end + 1))
  const isQuote = quote === '"' || quote === "'"
  const found = closes
    ? IN_CALL.exec(before)
    : isQuote
      ? IN_TAG.exec(before)
      : / $/.test(before)
        ? IN_LINE.exec(before)
        : null
  const value = found?.[2] ?? ''
  if (found === null || !isHuman(value) || namesOne(value)) return
  const at = from + found.index + found[0].indexOf(value)
  scan.hits.push({ start: at, end: at + value.length, kind: 'name' })
}
const IN_CALL = /(["'])([^"'\n]{6,200})\1(?:,| --?\w{1,10}) ?[^"'\n;]{0,40}["']$/
const IN_TAG = /<\w[^<>\n]{0,120}\bvalue=(["'])([^"'\n]{6,200})\1 (?:key|name|id)=["']$/i
const IN_LINE =
  /(["'`])([^"'`\s]{6,200})\1(?: +(?:TO|to|INTO|into|AS|as|->|→|=>|for) +(?:(?:the|your|my|our|its|new|a|an|admin|root) +){0,2}|[})\]]{1,3}\s+(?:[\w<>[\]]{1,40} +){0,5})$/
