import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { ApprovalView } from '../../../../plugins/mcp/management/approval-schemas.ts'
import { callNeedingConsent } from '../audit/records-kit.ts'
import { type Bench, expecting, refused, startApi } from './kit.ts'

let api: Bench
const decide = (id: string, body: unknown) => api.send('POST', `/approvals/${id}`, body)

describe('decisions over the API', () => {
  beforeEach(async () => {
    api = await startApi()
  })
  afterEach(async () => {
    await api.close()
    assert.deepEqual(api.faults, [])
  })

  it('are decided only as what was examined, where that is named', async () => {
    const { approval } = await callNeedingConsent(api)
    const other = { action: 'allow', argument_hash: 'c45a'.repeat(16) }
    refused(409, 'VERSION_CONFLICT', await decide(approval.id, other))
    refused(400, 'INVALID_REQUEST', await decide(approval.id, { ...other, argument_hash: 'c45a' }))
    const named = { action: 'allow', argument_hash: approval.argument_hash.slice(0, 16) }
    assert.equal(expecting<ApprovalView>(200, await decide(approval.id, named)).status, 'allowed')
  })
  it('are taken back while they are unused', async () => {
    const { approval } = await callNeedingConsent(api)
    expecting(200, await decide(approval.id, { action: 'allow' }))
    const undone = expecting<ApprovalView>(200, await decide(`${approval.id}/undo`, undefined))
    assert.deepEqual([undone.status, undone.decided_via], ['pending', null])
    expecting(200, await decide(approval.id, { action: 'allow' }))
    assert.equal((await callNeedingConsent(api)).state, 'granted')
    refused(409, 'APPROVAL_DECIDED', await decide(`${approval.id}/undo`, undefined))
    refused(404, 'APPROVAL_NOT_FOUND', await decide('apr_none/undo', {}))
  })
})
