import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { OffThreadModule } from 'guard-gateway/lib/off-thread'
import { loadGrammar } from './grammar.ts'
import { type CheckOptions, violationIn } from './judge.ts'

/** A long value and what it is judged by. */
export interface ShellTask {
  readonly value: unknown
  readonly options: CheckOptions
  readonly mayBeOld: boolean
}

/** Judges long values in a thread of their own. */
export const work: OffThreadModule<ShellTask, Violation | undefined>['work'] = async ({ value, options, mayBeOld }) => {
  await loadGrammar()
  return violationIn(value, options, mayBeOld)
}
