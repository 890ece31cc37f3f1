import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GuardError } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { openPlain } from 'guard-gateway/test'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'

describe('the gateways that a database belongs to', needsPostgres, () => {
  cleanUpPostgres()
  const openAs = async (url: string, cluster?: string): Promise<void> => {
    const store = await openPlain(postgres({ url, ...(cluster === undefined ? {} : { cluster }) }))
    await store.close()
  }

  it('are the first ones that name themselves; others are refused, and change nothing', async () => {
    const url = await newDatabase()
    await openAs(url)
    await openAs(url, 'production')
    await openAs(url, 'production')
    await assert.rejects(openAs(url, 'staging'), (error: GuardError) => {
      assert.equal(error.code, 'INVALID_CONFIG')
      assert.match(error.message, /belongs to the gateways of "production", and storage\.cluster is "staging"/)
      assert.doesNotMatch(error.message, /p@ss|p%40ss/)
      return true
    })
    const [{ cluster } = {}] = await runSql(url, 'select cluster from guard_meta')
    assert.equal(cluster, 'production')
    // a command that names nobody may look
    await openAs(url)
  })

  it('are one, also where two begin at once', async () => {
    const url = await newDatabase()
    const begun = await Promise.allSettled([openAs(url, 'one'), openAs(url, 'other')])
    assert.deepEqual(begun.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })
})
