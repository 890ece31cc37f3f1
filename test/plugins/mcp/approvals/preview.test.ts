import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { approver } from '../../../../plugins/access/index.ts'
import { approvalById, decideApproval } from '../../../../plugins/mcp/approvals/index.ts'
import { previewOf } from '../../../../plugins/mcp/approvals/preview.ts'
import { callNeedingConsent, type Kit, startKit, TIMEOUT_MS, withFolder } from '../audit/records-kit.ts'

const { redact } = new Gateway().use(...foundation())

describe('a preview', () => {
  it('shows ordinary arguments as they are', () =>
    assert.equal(previewOf({ path: '/srv/a', n: [1, true, null] }, redact), '{"path":"/srv/a","n":[1,true,null]}'))
  it('hides secrets by name and by shape, also in long texts', () => {
    const key = `ghp_${'Ab3d'.repeat(9)}`
    const text = previewOf({ password: 'hunter22', note: `${'x '.repeat(2_000)}${key} end` }, redact)
    assert.doesNotMatch(text, /hunter22|Ab3dAb3d/)
    assert.match(text, /REDACTED/)
  })
  it('shows a long text by head, tail and length', () => {
    const text = previewOf({ content: `begin${'-'.repeat(100_000)}finish` }, redact)
    assert.match(text, /^\{"content":"begin-+… \(100011 characters\) …-+finish"\}$/)
  })
  it('has at most 4,000 characters, however large and deep the arguments', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_none, at) => [`k${at}`, 'v'.repeat(300)]))
    let deep: Record<string, unknown> = {}
    for (let level = 0; level < 60; level++) deep = { deep }
    for (const args of [many, deep, { list: Array.from({ length: 9_000 }, () => 'word') }])
      assert.ok(previewOf(args, redact).length <= 4_000)
    assert.match(previewOf(many, redact), /…$/)
  })
  it('shows numbers beyond every double', () => assert.equal(previewOf({ n: -Infinity }, redact), '{"n":"-Infinity"}'))
  it('keeps a member called __proto__', () =>
    assert.equal(previewOf(JSON.parse('{"__proto__":{"a":1}}'), redact), '{"__proto__":{"a":1}}'))
})

describe('the stored preview', () => {
  const previews = async (kit: Kit, id: string) => {
    const row = await approvalById(kit.gateway, kit.approvals, id)
    return [row.preview, row.sent_preview]
  }
  const question = { sent: { path: 'b' } }
  const both = ['{"path":"a"}', '{"path":"b"}']

  it('is there while the approval is open, and gone when it is used, denied or expired', async () => {
    const kit = await startKit()
    const used = await callNeedingConsent(kit, { question })
    assert.deepEqual(await previews(kit, used.approval.id), both)
    await decideApproval(kit.gateway, kit.approvals, used.approval.id, { action: 'allow' }, 'ui')
    assert.deepEqual(await previews(kit, used.approval.id), both)
    await callNeedingConsent(kit, { question })
    assert.deepEqual(await previews(kit, used.approval.id), [null, null])
    const denied = await callNeedingConsent(kit, { question })
    await decideApproval(kit.gateway, kit.approvals, denied.approval.id, { action: 'deny' }, 'cli')
    assert.deepEqual(await previews(kit, denied.approval.id), [null, null])
    kit.clock.advance(TIMEOUT_MS)
    const late = await callNeedingConsent(kit, { question })
    kit.clock.advance(TIMEOUT_MS)
    assert.deepEqual(await previews(kit, late.approval.id), [null, null])
    await kit.close()
  })
  it('leaves no byte in a database that was closed after its deletion', () =>
    withFolder(async (folder) => {
      const canary = 'canary-90aa-of-what-was-asked'
      const asking = {
        args: { path: canary },
        question: { sent: { path: `b/${canary}` }, message: `Writes ${canary}` },
      }
      const kit = await startKit({ folder })
      const { approval } = await callNeedingConsent(kit, asking)
      assert.match(String((await previews(kit, approval.id))[0]), /canary/)
      await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'allow' }, 'ui')
      assert.equal((await callNeedingConsent(kit, asking)).state, 'granted')
      await kit.close()
      for (const name of await readdir(folder))
        assert.equal(readFileSync(join(folder, name)).includes(canary), false, name)
    }))
  it('stays where full content is kept', async () => {
    const kit = await startKit({ full_content_logging: true })
    const { approval } = await callNeedingConsent(kit, { question })
    await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'deny' }, 'ui')
    assert.deepEqual(await previews(kit, approval.id), both)
    kit.clock.advance(TIMEOUT_MS)
    assert.equal((await approvalById(kit.gateway, kit.approvals, approval.id)).preview, approval.preview)
    await kit.close()
  })
  it('goes through redaction with the words of the approver', async () => {
    const kit = await startKit()
    const { approval } = await callNeedingConsent(kit)
    const reason = `no: sk-ant-api03-${'aB3dE6gH'.repeat(10)}`
    const row = await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'deny', reason }, 'api')
    assert.match(row.reason ?? '', /^no: \[REDACTED/)
    await kit.close()
  })
})

describe('the approver key', () => {
  it('is asked for only where it is set, as it is or as its digest', () => {
    approver(undefined).check(undefined)
    const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
    for (const key of ['test', `sha256:${digest}`, `sha256:${digest.toUpperCase()}`]) {
      const { check, needsKey, pass } = approver(key)
      assert.equal(needsKey, true)
      check('test')
      check(pass)
      for (const wrong of [undefined, '', 'tes', digest, `sha256:${digest}`, approver(key).pass])
        assert.throws(() => check(wrong), { code: 'APPROVER_KEY_REQUIRED' })
    }
  })
})
