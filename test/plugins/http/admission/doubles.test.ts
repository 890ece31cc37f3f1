import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refuseDoubles } from '../../../../plugins/http/admission/doubles.ts'

describe('headers that stand twice', () => {
  it('are refused behind a request that had as many', () => {
    const sound = ['host', 'a', 'x-guard-mode', 'shadow', 'x-a', '1']
    const doubled = ['host', 'a', 'x-guard-mode', 'shadow', 'X-Guard-Mode', 'enforce']
    for (const headers of [sound, sound]) refuseDoubles(headers)
    for (const headers of [doubled, doubled]) assert.throws(() => refuseDoubles(headers), { code: 'INVALID_HEADER' })
    refuseDoubles(sound)
    assert.throws(() => refuseDoubles([...sound, 'host', 'a']), { code: 'INVALID_HEADER' })
  })
})
