import type { Finder, Redactor } from 'guard-gateway/core'
import { holdsKey } from './redact/certain.ts'
import { mark } from './redact/hit.ts'
import { json } from './redact/json.ts'
import { Learned } from './redact/learned.ts'
import { nameJudge } from './redact/names.ts'
import { texts } from './redact/texts.ts'
import { type Walker, walk } from './redact/walk.ts'
import { Work, WorkLimit } from './redact/work.ts'

export type { Finder, Redactor } from 'guard-gateway/core'

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
}: RedactorOptions = {}): Redactor => {
  const finders = credentials === undefined ? patterns : [credentials, ...patterns]
  const levelOf = nameJudge(names)
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
    levelOf,
    fault: report,
    hidden: (text) => learned.add(text, [{ start: 0, end: text.length, kind: 'name' }]),
  }
  const rewrite = json(walker)
  const work = new Work()
  const plain = texts({ levelOf, emails, accounts: true }, finders, rewrite, work, learned)
  const ids = texts({ levelOf, emails: false, accounts: true }, finders, rewrite, work, new Learned())
  const made = texts({ levelOf, emails: false, accounts: false }, finders, rewrite, work, new Learned())
  return {
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
  }
}
