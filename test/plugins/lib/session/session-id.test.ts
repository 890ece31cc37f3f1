import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { sessionById } from 'guard-gateway/lib/session'
import { aSessionRow } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../../recorder/kit.ts'

describe('sessionById', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench()
    const rows = [
      aSessionRow({ id: 'ses_a', external_id: 'window-1' }),
      aSessionRow({ id: 'ses_b', external_id: 'shared', project_id: 'p1' }),
      aSessionRow({ id: 'ses_c', external_id: 'shared', project_id: 'p2' }),
      aSessionRow({ id: 'ses_d', external_id: 'ses_a' }),
    ]
    for (const row of rows) await bench.gateway.storage.put('sessions', row)
  })
  after(() => bench.close())

  const find = async (id: string) => (await sessionById(bench.gateway.storage, id)).id
  const refusal = (id: string) =>
    find(id).then(
      () => assert.fail('found'),
      (error: unknown) => (error instanceof GuardError ? error : assert.fail(String(error))),
    )

  it('finds a session by its id, before any external id', async () => assert.equal(await find('ses_a'), 'ses_a'))
  it('finds a session by an external id that only one has', async () => assert.equal(await find('window-1'), 'ses_a'))
  it('names the ids there are where several projects use one external id', async () => {
    const { code, place } = await refusal('shared')
    assert.deepEqual([code, [...(place.known ?? [])].sort()], ['AMBIGUOUS_ID', ['ses_b', 'ses_c']])
  })
  it('says which id there is no session for', async () => {
    const { code, message } = await refusal('ses_none')
    assert.equal(code, 'SESSION_NOT_FOUND')
    assert.match(message, /"ses_none"/)
  })
})
