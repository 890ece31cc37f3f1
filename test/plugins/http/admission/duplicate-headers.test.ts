import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refuseDuplicateHeaders } from '../../../../plugins/http/admission/duplicate-headers.ts'

describe('headers that occur twice', () => {
  it('are refused after a request that had as many', () => {
    const sound = ['host', 'a', 'x-guard-mode', 'shadow', 'x-a', '1']
    const doubled = ['host', 'a', 'x-guard-mode', 'shadow', 'X-Guard-Mode', 'enforce']
    for (const headers of [sound, sound]) refuseDuplicateHeaders(headers)
    for (const headers of [doubled, doubled])
      assert.throws(() => refuseDuplicateHeaders(headers), { code: 'INVALID_HEADER' })
    refuseDuplicateHeaders(sound)
    assert.throws(() => refuseDuplicateHeaders([...sound, 'host', 'a']), { code: 'INVALID_HEADER' })
  })
})
