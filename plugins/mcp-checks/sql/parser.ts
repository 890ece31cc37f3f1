import type { Violation } from 'guard-gateway/lib/check-arguments'
import type { ParserModule } from 'guard-gateway/lib/parser-process'
import { type SqlOptions, violationIn } from './judge.ts'
import { loadPostgres } from './postgres.ts'

/** A text with the options of its check. */
export interface SqlText {
  readonly text: string
  readonly options: SqlOptions
}

/** Judges one text. */
export const parse: ParserModule<SqlText, Violation | undefined>['parse'] = ({ text, options }) =>
  violationIn(text, options)

export const load = async ({ options }: SqlText): Promise<void> => {
  if (options.dialect === 'postgres') await loadPostgres()
}
