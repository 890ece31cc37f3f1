import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mcpResultCheckConforms } from 'guard-gateway/test'
import type { ToolResult } from '#lib/mcp-check'
import { resultSize } from '../../../plugins/mcp-result-checks/size.ts'
import { loadedResultCheck, mendedBy, resultOfTexts } from '../../conformance/mcp-result-check.ts'

mcpResultCheckConforms(resultSize, { options: { max_bytes: 40 }, passes: 'short', fails: 'long '.repeat(20) })

describe('the size of results', () => {
  const found = async (options: { max_bytes?: number; max_data_bytes?: number }, result: ToolResult) =>
    (await loadedResultCheck(resultSize, options))(result)

  it('is cut at the limit, and what is gone is said', async () => {
    const text = 'a'.repeat(100)
    assert.deepEqual(await found({ max_bytes: 100 }, resultOfTexts(text)), [])
    assert.equal(
      mendedBy(text, await found({ max_bytes: 10 }, resultOfTexts(text))),
      'aaaaaaaaaa[cut by Guard: 90 of 100 bytes left out]',
    )
  })
  it('counts all texts together, in bytes, and never cuts through a character', async () => {
    const findings = await found({ max_bytes: 5 }, resultOfTexts('ééé', 'z', '😀'))
    assert.deepEqual(
      findings.map(({ pointer, edit }) => [pointer, edit?.start]),
      [
        ['/content/0/text', 2],
        ['/content/1/text', 0],
        ['/content/2/text', 0],
      ],
    )
    assert.match(String(findings[0]?.reason), /beyond the 5 bytes that the texts of a result may have; they have 11/)
  })
  it('cannot be cut of what is structured, and counts that by itself', async () => {
    const result = { ...resultOfTexts('abc'), structured_bytes: 90 }
    const [finding, ...more] = await found({ max_bytes: 80 }, result)
    assert.deepEqual([finding?.pointer, finding?.edit, more], ['/structuredContent', undefined, []])
    assert.deepEqual(await found({ max_bytes: 90 }, result), [])
  })
  it('leaves out images, audio and blobs that go beyond theirs, and keeps those that fit', async () => {
    const data = (index: number, bytes: number) =>
      ({ pointer: `/content/${index}/data`, kind: 'data', text: '', bytes }) as const
    const result = { parts: [data(0, 60), data(1, 60), data(2, 40)], structured_bytes: 0, bytes: 999 }
    assert.deepEqual(await found({ max_bytes: 1 }, result), [])
    const findings = await found({ max_data_bytes: 100 }, result)
    assert.deepEqual(
      findings.map(({ pointer, edit }) => [pointer, edit?.text]),
      [['/content/1/data', '[cut by Guard: 60 bytes of data left out]']],
    )
  })
})
