import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { decideApproval } from '../../../../plugins/mcp/approvals/index.ts'
import { callNeedingConsent, startKit, withFolder } from '../audit/records-kit.ts'

const CALLS = 30
/** Calls that the child has made known before it is killed, in the midst of the next. */
const KILLED_AFTER = 5

describe('a proxy that is killed while it uses approvals', () => {
  it('has used each at most once, and those that it acted upon are on record', { timeout: 60_000 }, () =>
    withFolder(async (folder) => {
      const kit = await startKit({ folder })
      const ids: string[] = []
      for (let call = 0; call < CALLS; call++) {
        const { approval } = await callNeedingConsent(kit, { args: { call } })
        await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'allow' }, 'api')
        ids.push(approval.id)
      }
      const child = fork(join(import.meta.dirname, 'racer.ts'), [folder, String(CALLS), 'each'], {
        execArgv: process.execArgv,
      })
      await once(child, 'message')
      const acted: number[] = []
      child.on('message', ({ call, state }: { readonly call?: number; readonly state?: string }) => {
        if (call !== undefined && state === 'granted') acted.push(call)
        if (acted.length === KILLED_AFTER) child.kill('SIGKILL')
      })
      const ended = once(child, 'exit')
      child.send('go')
      await ended
      assert.ok(acted.length >= KILLED_AFTER)
      const mine: number[] = []
      for (let call = 0; call < CALLS; call++)
        if ((await callNeedingConsent(kit, { args: { call } })).state === 'granted') mine.push(call)
      assert.deepEqual(
        acted.filter((call) => mine.includes(call)),
        [],
      )
      const { rows } = await kit.gateway.storage.find('mcp_audit', { where: { forwarded: true }, limit: 1000 })
      assert.deepEqual(rows.map(({ approval_id }) => approval_id).sort(), [...ids].sort())
      assert.deepEqual(kit.faults, [])
      await kit.close()
    }),
  )
})
