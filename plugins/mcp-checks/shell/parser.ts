import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { ParserModule } from 'guard-gateway/lib/parser-process'
import { LRU } from 'tiny-lru'
import { loadGrammar } from './grammar.ts'
import { type CheckOptions, violationIn } from './judge.ts'

/** A value with the options of its check. */
export interface ShellText {
  readonly value: unknown
  /** Options as JSON, by which they are known again: their rules are made once. */
  readonly options: string
  readonly mayBeOld: boolean
}

const MAX_OPTIONS = 100
const known = new LRU<CheckOptions>(MAX_OPTIONS)

const optionsOf = (text: string): CheckOptions => {
  const options: CheckOptions = known.get(text) ?? JSON.parse(text)
  known.set(text, options)
  return options
}

/** Judges one value. */
export const parse: ParserModule<ShellText, Violation | undefined>['parse'] = ({ value, options, mayBeOld }) =>
  violationIn(value, optionsOf(options), mayBeOld)

export const load = loadGrammar
