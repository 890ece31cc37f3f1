import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { callColumns, newCallRecord } from '#lib/trace'
import { callFacts } from '../../../../plugins/lib/trace/call-facts.ts'
import { type CallSource, callSource } from '../../../../plugins/lib/trace/call-source.ts'
import { columnsOf, fact, flagged, literalOf, type ValuesOf } from '../../../../plugins/lib/trace/fact.ts'
import { settled } from '../../../kit/settled.ts'

const redact = new Gateway().use(...foundation()).redact
const previews = { request: 'asked', response: null }

describe('the facts of a call', () => {
  it('are its record, member by member in the order of the columns, which is what the store reads fastest', () => {
    const names = Object.keys(callFacts)
    assert.deepEqual(Object.keys(newCallRecord(settled(), redact, previews, false)), names)
    assert.deepEqual(Object.keys(callColumns.columns), names)
  })

  it('cost one entry each: column, flags and value follow from it', () => {
    const facts = { ...callFacts, region: fact('text', ({ settled: { upstream } }) => `of ${upstream}`, 'exact') }
    const source = callSource(settled(), redact, previews, false)
    const record = literalOf<CallSource, ValuesOf<typeof facts>>(facts)(source)
    assert.deepEqual([record.region, record.id], ['of main', 'guardreq_1'])
    const column: 'text' = columnsOf(facts).region
    assert.deepEqual(
      [column, flagged(facts, 'exact').at(-1), flagged(facts, 'repeated').includes('style')],
      ['text', 'region', true],
    )
  })

  it('have names that can stand in code, and no other gets into it', () => {
    const from = () => null
    for (const name of ['a-b', 'x: process.exit(), y', '', '__proto__', 'A'])
      assert.throws(() => literalOf({ [name]: { from } }), { name: 'TypeError', message: /name of a fact/ })
  })
})
