import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callColumns, newCallRecord, openCallTable, openRecordOf, recordOfOpen } from '#lib/trace'
import { aCall, settled } from '../../../kit/settled.ts'

const same = <T>(value: T): T => value
const record = newCallRecord(
  settled({ call: aCall({ id: 'guardreq_1' }) }),
  { text: same, value: same, judgeId: () => 'plain' },
  { request: 'a question', response: null },
  false,
)

describe('the record of an open call', () => {
  it('is whole again when it is read, without what is null in the storage', () => {
    const stored = JSON.parse(JSON.stringify(openRecordOf(record)))
    assert.deepEqual(recordOfOpen(stored), JSON.parse(JSON.stringify(record)))
    for (const members of Object.values(stored) as object[])
      assert.ok(!Object.values(members).includes(null), JSON.stringify(members))
  })
  it('is read as an earlier process wrote it, in one piece', () => {
    assert.deepEqual(recordOfOpen({ record, facts: null }), record)
  })
  it('is redacted where table calls is', () => {
    const { record: redacted, facts } = openRecordOf(record)
    const exact: readonly string[] = callColumns.exact
    const texts = Object.entries(callColumns.columns).filter(([, kind]) => kind === 'text' || kind === 'json')
    for (const [name] of texts) {
      assert.ok(exact.includes(name) || !Object.hasOwn(facts ?? {}, name), name)
      assert.ok(!exact.includes(name) || !Object.hasOwn(redacted, name), name)
    }
    assert.ok(Object.hasOwn(redacted, 'model_requested'))
    assert.ok(openCallTable.exact?.includes('facts') && !openCallTable.exact.includes('record'))
  })
})
