import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isSecretUnder } from './opaque.ts'
import { isPlaceholder } from './placeholders.ts'
import type { Scan } from './scan.ts'

/** Steps of reading a tag. */
const TAG = 100
/** The longest tag and the longest text of an element looked at. */
const MAX_TAG = 256
const MAX_CONTENT = 16_384
/** How far behind an element that holds a name the one with its value may begin. */
const PAIR_REACH = 200

/** The text of `<password>…</password>`, of `<item name="password">…</item>`, and of the element behind `<key>password</key>`; triggered at `>`. */
export const element = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  const open = text.lastIndexOf('<', at)
  if (open === -1 || at - open > MAX_TAG) return undefined
  scan.spend(TAG)
  const tag = /^<(?:[\w-]{1,64}:)?([\w.-]{1,64})(?:\s[^<]*)?>$/.exec(text.slice(open, at + 1))?.[1]
  if (tag === undefined) return undefined
  const end = scan.indexOf('</', at + 1)
  if (end === -1 || end - at > MAX_CONTENT || !closes(text, end + 2, tag)) return undefined
  const start = at + 1
  const level = levelOf(scan, tag, open, at)
  if (level === Levels.none) return openPair(scan, tag, start, end)
  const value = text.slice(start, Math.min(end, start + 300)).trim()
  if (!isSecretUnder(level, value)) return undefined
  return isPlaceholder(value) || marksAt(value, 0) || value.startsWith('<') ? undefined : { start, end, kind: 'name' }
}

const closes = (text: string, from: number, tag: string): boolean =>
  text.startsWith(tag, from) || text.slice(from, from + 130).includes(`:${tag}>`)

/** The level of the element's own name, else of the name that stands before it as an attribute or a sibling. */
const levelOf = (scan: Scan, tag: string, open: number, at: number): Level => {
  const own = scan.rules.levelOf(tag)
  if (own !== Levels.none || scan.pair === undefined) return own
  const inside = scan.pair.from > open && scan.pair.from < at
  const beside = scan.pair.from < open && open < scan.pair.until && /^(?:string|value|val)$/i.test(tag)
  return inside || beside ? scan.pair.level : Levels.none
}

const openPair = (scan: Scan, tag: string, start: number, end: number): undefined => {
  if (!/^(?:key|name)$/i.test(tag) || end - start > 64) return undefined
  const level = scan.rules.levelOf(scan.text.slice(start, end))
  if (level !== Levels.none) scan.pair = { level, from: start, until: end + PAIR_REACH }
  return undefined
}
