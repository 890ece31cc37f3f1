import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { OffThreadModule } from 'guard-gateway/lib/off-thread'
import { type SqlOptions, violationIn } from './judge.ts'
import { loadPostgres } from './postgres.ts'

/** A long text with its options. */
export interface SqlTask {
  readonly text: string
  readonly options: SqlOptions
}

/** Judges long texts in a worker thread. */
export const work: OffThreadModule<SqlTask, Violation | undefined>['work'] = async ({ text, options }) => {
  if (options.dialect === 'postgres') await loadPostgres()
  return violationIn(text, options)
}
