import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { decideApproval } from '../../../../plugins/mcp/approvals/index.ts'
import { callNeedingConsent, logOf, spansOf, startKit, withFolder } from '../audit/records-kit.ts'

const CALLS = 6

interface Raced {
  readonly states: readonly string[]
  readonly faults: number
}

const racer = async (folder: string): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, 'racer.ts'), [folder, String(CALLS)], { execArgv: process.execArgv })
  await said(child)
  return child
}

/** The next message of a child; rejects if it ends instead. */
const said = async (child: ChildProcess): Promise<unknown> => {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the child ended with ${code}`)))
  ended.catch(() => {})
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}

const raced = async (child: ChildProcess): Promise<Raced> => {
  const exit = once(child, 'exit')
  const answer = (await said(child)) as Raced
  await exit
  return answer
}

describe('an approval that another process decides', () => {
  it('lets the retry through here, and the run holds what both wrote', () =>
    withFolder(async (folder) => {
      const [proxy, gateway] = [await startKit({ folder }), await startKit({ folder })]
      const log = logOf(proxy)
      const first = await callNeedingConsent(proxy, { log })
      await decideApproval(gateway.gateway, gateway.approvals, first.approval.id, { action: 'allow' }, 'ui')
      const retry = await callNeedingConsent(proxy, { log })
      assert.equal(retry.state, 'granted')
      await log.outcome(retry.entry, 'ok', 1)
      const trace_id = first.entry.trace_id
      assert.deepEqual(
        (await spansOf(gateway, trace_id, 'tool.call')).map(({ status }) => status),
        ['ok', 'ok'],
      )
      assert.deepEqual(
        (await spansOf(gateway, trace_id, 'approval.wait')).map(({ status }) => status),
        ['ok'],
      )
      assert.deepEqual([proxy.faults, gateway.faults], [[], []])
      await proxy.close()
      await gateway.close()
    }))
})

describe('two processes that retry the same calls over one SQLite file', () => {
  it('consume each approval exactly once between them', { timeout: 60_000 }, () =>
    withFolder(async (folder) => {
      const kit = await startKit({ folder })
      const ids: string[] = []
      for (let call = 0; call < CALLS; call++) {
        const { approval } = await callNeedingConsent(kit, { args: { call } })
        await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'allow' }, 'api')
        ids.push(approval.id)
      }
      const children = await Promise.all([racer(folder), racer(folder)])
      const answers = children.map(raced)
      for (const child of children) child.send('go')
      const [left, right] = await Promise.all(answers)
      for (let call = 0; call < CALLS; call++) {
        const states = [left?.states[call], right?.states[call]].sort()
        assert.deepEqual(states, ['asked', 'granted'], `call ${call}`)
      }
      assert.deepEqual([left?.faults, right?.faults], [0, 0])
      for (const id of ids) {
        const row = await kit.gateway.storage.get('mcp_approvals', id)
        assert.deepEqual([row?.status, row?.used_count], ['consumed', 1])
      }
      const forwarded = await kit.gateway.storage.find('mcp_audit', { where: { forwarded: true }, limit: 100 })
      assert.deepEqual(forwarded.rows.map(({ approval_id }) => approval_id).sort(), [...ids].sort())
      await kit.close()
    }),
  )
})
