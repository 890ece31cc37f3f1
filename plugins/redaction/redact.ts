import type { Finder, Redactor } from 'guard-gateway/core'
import { mark } from './redact/hit.ts'
import { Learned, type Recall } from './redact/learned.ts'
import { nameEndings, nameJudge } from './redact/names.ts'
import { type JsonRewriter, texts } from './redact/texts.ts'
import { type Walker, walk } from './redact/walk.ts'
import { Work, WorkLimit } from './redact/work.ts'

export type { Finder, Redactor } from 'guard-gateway/core'

/** A redactor that can be asked to hide what was hidden before, too. */
export interface RecallingRedactor extends Redactor {
  within(before: Recall): Pick<Redactor, 'text' | 'value'>
}

export interface RedactorOptions {
  /** Configured credentials. */
  readonly credentials?: Finder
  /** Users' patterns, beside the built-in rules. */
  readonly finders?: readonly Finder[]
  /** Names whose values are secrets, beside the built-in ones; matched by their last words. */
  readonly names?: readonly string[]
  /** False keeps mail addresses. */
  readonly emails?: boolean
  /** Told what went wrong where a part became `[REDACTED:fault]`. */
  readonly fault?: (error: unknown) => void
}

/** Ids of digits, as OpenTelemetry, Datadog and we make them, with a prefix or without: one in 90 would pass for a card number. */
const MADE = /^(?:[A-Za-z]{1,16}[._:-])?(?:[0-9a-f]{8,64}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/

/** Longer texts are not examined but hidden; callers cut before they redact. */
const MAX_TEXT = 1_048_576

/** Makes the redactor that stands above every store, log and export. */
export const redactor = ({
  credentials,
  finders: patterns = [],
  names = [],
  emails = true,
  fault,
}: RedactorOptions = {}): RecallingRedactor => {
  const finders = credentials === undefined ? patterns : [credentials, ...patterns]
  const judged = { levelOf: nameJudge(names), endings: nameEndings(names) }
  const report = (error: unknown): void => {
    try {
      fault?.(error)
    } catch {
      // a failing reporter must not undo that the part is hidden
    }
  }
  const learned = new Learned()
  const walker: Walker = {
    text: (text, level) => plain.redact(text, level),
    levelOf: judged.levelOf,
    fault: report,
    hidden: (text) => learned.add(text, [{ start: 0, end: text.length, kind: 'name' }]),
  }
  const rewrite = json(walker)
  const work = new Work()
  const plain = texts({ ...judged, emails, accounts: true }, finders, rewrite, work, learned)
  const ids = texts({ ...judged, emails: false, accounts: true }, finders, rewrite, work, new Learned())
  const made = texts({ ...judged, emails: false, accounts: false }, finders, rewrite, work, new Learned())
  const recalling = <T>(before: Recall, call: () => T): T => {
    learned.before = before
    try {
      return call()
    } finally {
      learned.before = undefined
    }
  }
  const self: RecallingRedactor = {
    value<T>(value: T): T {
      learned.clear()
      const result = work.within(() => walk(value, walker, 0))
      // what was found late in the record may stand earlier in it
      return (learned.size === 0 ? result : work.within(() => walk(result, walker, 0))) as T
    },
    text(text) {
      if (text.length > MAX_TEXT) return mark('limit')
      learned.clear()
      try {
        return work.within(() => plain.redact(text, 0))
      } catch (error) {
        if (error instanceof WorkLimit) return mark('limit')
        report(error)
        return mark('fault')
      }
    },
    judgeId(id) {
      try {
        const kinds = work.within(() => (MADE.test(id) ? made : ids).kinds(id))
        if (kinds.length === 0) return 'plain'
        return kinds.some((kind) => kind === 'token' || kind === 'private-key') ||
          holdsKey(id) ||
          credentials?.(id, 0) !== undefined
          ? 'secret'
          : 'suspect'
      } catch (error) {
        if (!(error instanceof WorkLimit)) report(error)
        return 'suspect'
      }
    },
    within: (before) => ({
      text: (text) => recalling(before, () => self.text(text)),
      value: (value) => recalling(before, () => self.value(value)),
    }),
  }
  return self
}

/** Node 22 and later keep the digits of a number a double cannot hold. */
interface ExactJson {
  readonly rawJSON?: (text: string) => unknown
}
const { rawJSON } = JSON as ExactJson

const LONG_NUMBER = /[:,[\s]-?\d{16}/

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** Keeps a number as it was written, unless a double writes it so. */
const exact: Reviver = (_key, value, context) =>
  typeof value === 'number' &&
  rawJSON !== undefined &&
  context?.source !== undefined &&
  String(value) !== context.source
    ? rawJSON(context.source)
    : value

const parse = (text: string): unknown => {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Indentation of the first member or element that stands on a line of its own. */
const indentOf = (text: string): string => /^\s*[[{]\r?\n([ \t]{1,10})\S/.exec(text.slice(0, 64))?.[1] ?? ''

/** Rewrites JSON by walking what it says; numbers keep their digits. */
const json =
  (walker: Walker): JsonRewriter =>
  (text, level) => {
    const value = parse(text)
    if (typeof value !== 'object' && typeof value !== 'string') return undefined
    const result = walk(value, walker, level)
    return result === value ? undefined : JSON.stringify(result, null, indentOf(text))
  }

/** Keys whose prefix and length, or a mark inside, only their vendor makes; parts of longer words are none. */
const ISSUED = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    '(?:guard|gak|mcp)_[\\w-]{43}',
    'sk-ant-(?:api|admin|oat|ort|sid)\\d\\d-[\\w-]{60,}',
    'sk-(?:[a-z]{2,12}-)?[\\w-]{20,}T3BlbkFJ[\\w-]{20,}',
    'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}',
    'glpat-[\\w-]{20}',
    '(?:AKIA|ASIA)[A-Z2-7]{16}',
    'AIza[\\w-]{35}',
    'xox[abeoprs]-(?:\\d{8,14}-){1,3}[A-Za-z0-9]{20,40}',
    '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{24,128}',
    'SG\\.[\\w-]{22}\\.[\\w-]{43}',
    'hvs\\.[\\w-]{80,}',
    'shp(?:at|ca|pa|ss)_[0-9a-f]{32}',
    'dop_v1_[0-9a-f]{64}',
    'pypi-AgEIcHlwaS5vcmc[\\w-]{50,}',
    'eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{20,}',
  ].join('|')})(?![A-Za-z0-9])`,
)

/** Keys that end in a check sum of what stands before it, as GitHub and npm make them. */
const SUMMED = /(?<![A-Za-z0-9])(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})(?![A-Za-z0-9])/g

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const crc32 = (text: string): number => {
  let sum = 0xffffffff
  for (let at = 0; at < text.length; at++) {
    sum ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return (sum ^ 0xffffffff) >>> 0
}

const checkSum = (text: string): string => {
  let written = ''
  for (let rest = crc32(text); written.length < 6; rest = Math.floor(rest / 62))
    written = DIGITS.charAt(rest % 62) + written
  return written
}

/** The id holds what can only be a key: prefix, length and check sum say so, as far as its vendor has them. */
const holdsKey = (id: string): boolean =>
  ISSUED.test(id) || Array.from(id.matchAll(SUMMED)).some(([, body = '', sum]) => checkSum(body) === sum)
