import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { ParserModule } from 'guard-gateway/lib/parser-process'
import { loadGrammar } from './grammar.ts'
import { type CheckOptions, violationIn } from './judge.ts'

/** A value with the options of its check. */
export interface ShellText {
  readonly value: unknown
  readonly options: CheckOptions
  readonly mayBeOld: boolean
}

/** Judges one value. */
export const parse: ParserModule<ShellText, Violation | undefined>['parse'] = ({ value, options, mayBeOld }) =>
  violationIn(value, options, mayBeOld)

export const load = loadGrammar
