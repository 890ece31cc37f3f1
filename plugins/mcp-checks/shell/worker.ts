import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { OffThreadModule } from 'guard-gateway/lib/off-thread'
import { loadGrammar } from './grammar.ts'
import { type CheckOptions, violationIn } from './judge.ts'

/** A long value with its options. */
export interface ShellTask {
  readonly value: unknown
  readonly options: CheckOptions
  readonly mayBeOld: boolean
}

/** Judges long values in a worker thread. */
export const work: OffThreadModule<ShellTask, Violation | undefined>['work'] = async ({ value, options, mayBeOld }) => {
  await loadGrammar()
  return violationIn(value, options, mayBeOld)
}
