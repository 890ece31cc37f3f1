import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Entry, SessionLog } from '../../../../plugins/mcp/audit/index.ts'
import { factsOf, judgementOf, type Kit, logOf, spansOf, startKit, withFolder } from './records-kit.ts'

const MINUTE_MS = 60_000

/** A call whose decision is durable and that has not ended. */
const begun = async (kit: Kit, log: SessionLog): Promise<Entry> => {
  const entry = await log.begin()
  log.pass(entry, factsOf(kit, { path: 'a' }), judgementOf())
  while ((await kit.gateway.storage.get('mcp_audit', entry.id)) === undefined) await setImmediate()
  return entry
}
const outcomeOf = async (kit: Kit, { id }: Entry) => (await kit.gateway.storage.get('mcp_audit', id))?.outcome

/** Two processes with one database; the first writes nothing any more. */
const withTwo = (work: (kit: Kit, entry: Entry) => Promise<void>, told = false): Promise<void> =>
  withFolder(async (folder) => {
    const dead = await startKit({ folder })
    const entry = await begun(dead, logOf(dead))
    if (told) await dead.audit.flush()
    dead.gateway.storage.write = () => Promise.reject(new Error('is dead'))
    const kit = await startKit({ folder })
    await work(kit, entry)
    assert.deepEqual(kit.faults, [])
    await kit.close()
    await dead.close()
  })

describe('a call that its process has left', () => {
  it('is lost, and its run knows of it, a minute after it started', () =>
    withTwo(async (kit, entry) => {
      await kit.audit.unfinished.check()
      assert.equal(await outcomeOf(kit, entry), null)
      kit.clock.advance(MINUTE_MS + 1)
      await kit.audit.unfinished.check()
      assert.equal(await outcomeOf(kit, entry), 'lost')
      const [span, ...more] = await spansOf(kit, entry.trace_id, 'tool.call')
      assert.deepEqual(
        [span?.id, span?.status, span?.status_message, span?.attributes['guard.outcome'], more],
        [entry.span_id, 'error', 'the proxy stopped before the call ended', 'lost', []],
      )
      assert.deepEqual(
        span?.events.map(({ name }) => name),
        ['policy.decision'],
      )
    }))

  it('is lost when its run has ended it, if its run knew', () =>
    withTwo(async (kit, entry) => {
      kit.clock.advance(MINUTE_MS + 1)
      await kit.audit.unfinished.check()
      assert.equal(await outcomeOf(kit, entry), null)
      const { trace_id, span_id: id } = entry
      const end_ns = BigInt(kit.clock.now()) * 1_000_000n
      const span = { id, name: 'tool.call', status: 'error', end_ns }
      await kit.gateway.keep([
        { owner: 'mcp', origin: 'mcp', run: { trace_id }, spans: [span], events: [], artifacts: [] },
      ])
      await kit.audit.unfinished.check()
      assert.equal(await outcomeOf(kit, entry), 'lost')
    }, true))
})

it('a call that continues for long is left alone', () =>
  withFolder(async (folder) => {
    const [kit, other] = [await startKit({ folder }), await startKit({ folder })]
    const log = logOf(kit)
    const entry = await begun(kit, log)
    await kit.audit.flush()
    for (const { clock, audit } of [kit, other, kit, other]) {
      clock.advance(MINUTE_MS + 1)
      await audit.unfinished.check()
    }
    assert.equal(await outcomeOf(other, entry), null)
    await log.ended(entry, 'ok', 12)
    await kit.audit.flush()
    assert.equal(await outcomeOf(other, entry), 'ok')
    await other.close()
    await kit.close()
  }))
