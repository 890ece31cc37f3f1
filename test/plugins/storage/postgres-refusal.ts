import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { GuardError, type Table } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { conformanceTables } from '../../conformance/storage.ts'

const SECRETS = /s3cret|p@ss w|p%40ss/

/** The error of a start that fails: one line, with a code of ours, and without a password anywhere in it. */
export const refusal = async (
  url: string,
  code: string,
  tables: readonly Table[] = conformanceTables,
): Promise<string> => {
  const error = await postgres({ url, connect_timeout_ms: 1_000 })
    .open(tables, { fault: () => {} })
    .then(
      () => assert.fail('it opened'),
      (thrown: unknown) => thrown,
    )
  assert.ok(error instanceof GuardError, inspect(error))
  assert.equal(error.code, code, error.message)
  assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), SECRETS)
  assert.doesNotMatch(error.message, /\n/)
  return error.message
}

/** The URL with a part changed. */
export const changed = (url: string, change: (url: URL) => void): string => {
  const copy = new URL(url)
  change(copy)
  return copy.href
}
