import type { Hit } from './hit.ts'
import type { Level } from './names.ts'
import { isChosen, isMade } from './opaque.ts'

/** The pass over a text, as it is needed here. */
export interface Pass {
  readonly text: string
  readonly rules: { readonly levelOf: (name: string) => Level }
  readonly hits: Hit[]
  /** Counts work beyond that of trying a shape. */
  spend(steps: number): void
}

/** Steps of reading a call or a group. */
const STEPS = 260

/** Names that take a user and a password in a call. */
export const LOGIN =
  /(?:^(?:auth|begin|[sS]ecretStr(?:ing)?|HTTPBasicAuth|SetBasicAuth|basicAuth|basic_auth|NetworkCredential|UsernamePasswordCredentials|PasswordAuthentication|getConnection|mysqli_connect|mysql_connect|pg_connect|PDO|connect|sign|encode|createHash)|login|[hH]mac)$/

/** The literals of a call that takes a user and a password: the last that looks like one. */
export const callLogin = (scan: Pass, end: number): void => {
  const found = /^\s?=?\s?(?:new\s)?\.?\w{0,20}[({[]([^)\n]{0,300})/.exec(scan.text.slice(end, end + 340))
  if (found === null) return
  const from = end + found[0].length - (found[1] ?? '').length
  for (const { index, 2: value = '' } of (found[1] ?? '').matchAll(/(["'])([^"'\n]{1,200})\1/g)) {
    const start = from + index + 1
    if (isChosen(value) && !/[:/@]/.test(value)) scan.hits.push({ start, end: start + value.length, kind: 'name' })
  }
}

/** The members of `secrets: {…}`, and of a block of YAML below it, that a generator made. */
export const group = (scan: Pass, end: number): void => {
  const { text } = scan
  const found = GROUP.exec(text.slice(end, end + 2_000))
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

/** The literal before a name that ends a call: `setValue("…", forHTTPHeaderField: "X-Api-Key")`. */
export const argumentBefore = (scan: Pass, start: number, end: number): void => {
  const { text } = scan
  const quote = text.charAt(start - 1)
  if ((quote !== '"' && quote !== "'") || text[end] !== quote || !/[)\]\n]|^$/.test(text.charAt(end + 1))) return
  const from = Math.max(0, start - 260)
  const found = BEFORE.exec(text.slice(from, start))
  const value = found?.[2] ?? ''
  if (found === null || !isChosen(value)) return
  const at = from + found.index + 1
  scan.hits.push({ start: at, end: at + value.length, kind: 'name' })
}
const BEFORE = /(["'])([^"'\n]{8,200})\1(?:,| --?\w{1,10}) ?[^"'\n;]{0,40}["']$/
