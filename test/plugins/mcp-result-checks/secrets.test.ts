import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mcpResultCheckConforms } from 'guard-gateway/test'
import { secrets } from '../../../plugins/mcp-result-checks/secrets.ts'
import { loadedResultCheck, mendedBy, resultOfTexts } from '../../conformance/mcp-result-check.ts'

/** In pieces, so that no scanner of this repository takes it for a key. */
const KEY = `ghp_${'Ab1'.repeat(12)}`
const PRIVATE = `-----BEGIN ${'PRIVATE'} KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(24)}-----END ${'PRIVATE'} KEY-----`

mcpResultCheckConforms(secrets, { options: {}, passes: 'Nothing here, ann@example.com.', fails: `token ${KEY} end` })

describe('secrets in results', () => {
  const found = async (text: string, kinds?: string[]) =>
    (await loadedResultCheck(secrets, kinds === undefined ? {} : { kinds }))(resultOfTexts(text))

  it('are replaced where they stand; the lines around them stay', async () => {
    const text = `one\n  key: ${KEY}\ntwo`
    const findings = await found(text)
    assert.deepEqual(
      findings.map(({ edit, reason }) => [edit?.start, reason]),
      [[4, 'holds what looks like a secret (key)']],
    )
    assert.equal(mendedBy(text, findings), 'one\n  key: [REDACTED:key]\ntwo')
  })
  it('are found of several lines, at the seam of two pieces too', async () => {
    for (const before of [0, 15_900, 16_300, 32_500]) {
      const text = `${'x\n'.repeat(before / 2)}${PRIVATE}\nafter`
      const mended = mendedBy(text, await found(text))
      assert.ok(!mended.includes('MIIEvQ'), String(before))
      assert.ok(mended.endsWith('after'))
    }
  })
  it('are found in Markdown, whose converters escape what stands in keys', async () => {
    const text = `A \\_plain\\_ line\nToken ${KEY.replace('_', '\\_')} leaked`
    assert.equal(mendedBy(text, await found(text)), 'A \\_plain\\_ line\nToken [REDACTED:token] leaked')
  })
  it('are of the kinds that the policy names', async () => {
    const text = `password = "hunter2hunter2"\n${KEY}`
    assert.equal((await found(text)).length, 2)
    const [only, ...more] = await found(text, ['key'])
    assert.deepEqual([only?.edit?.start, more], [text.indexOf('\n') + 1, []])
    assert.deepEqual(await found(text, ['card']), [])
  })
  it('are known of a structure by the name of a member', async () => {
    const part = { pointer: '/structuredContent/db/password/0', kind: 'structured', text: 'hunter2', bytes: 7 } as const
    const find = await loadedResultCheck(secrets, {})
    const [finding] = await find({ parts: [part], structured_bytes: 20, bytes: 99 })
    assert.equal(finding?.edit?.text, '[REDACTED:name]')
    const other = { ...part, pointer: '/structuredContent/db/label' }
    assert.deepEqual(await find({ parts: [other], structured_bytes: 20, bytes: 99 }), [])
  })
  it('that were hidden before count no more', async () => {
    assert.deepEqual(await found('key: [REDACTED:key]'), [])
  })
})
