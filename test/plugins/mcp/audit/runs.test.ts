import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { replayErrors } from '../../../../plugins/replay/error-codes.ts'
import { readTrace } from '../../../../plugins/replay/read/run.ts'
import {
  decisionIn,
  judgedCall,
  type Kit,
  logOf,
  recordsOf,
  SESSION,
  spansOf,
  startKit,
  type What,
} from './records-kit.ts'

let kit: Kit
const start = async (): Promise<void> => {
  kit = await startKit()
}
const stop = (): Promise<void> => kit.close()

const judge = (...what: What) => judgedCall(kit, ...what)

describe('the run of a session', () => {
  beforeEach(start)
  afterEach(stop)

  it('is made at the first call and labelled as the client says', async () => {
    const labelled = kit.audit.session({
      id: SESSION,
      server_id: 'fs',
      transport: 'stdio',
      project_id: 'shop',
      agent_id: 'ann',
      external_session_id: 'chat-1',
    })
    const { entry } = await judge({}, {}, labelled)
    const { entry: second } = await judge({}, {}, labelled)
    const { run, spans } = await readTrace(kit.gateway.storage, entry.trace_id)
    assert.equal(second.trace_id, entry.trace_id)
    assert.deepEqual([run.project_id, run.agent_id, run.name], ['shop', 'ann', 'mcp fs'])
    assert.match(run.session_id ?? '', /^ses_/)
    assert.equal(spans.find(({ name }) => name === 'tool.call')?.attributes['network.transport'], 'pipe')
  })
  it('is the run that the caller names, below the span it names', async () => {
    const { entry } = await judge({}, {}, logOf(kit), `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`)
    assert.deepEqual([entry.trace_id, entry.parent_span_id], ['a'.repeat(32), 'b'.repeat(16)])
    assert.equal((await spansOf(kit, 'a'.repeat(32), 'tool.call')).length, 1)
  })
  it('is the named run where only one of both has a project', async () => {
    const parent = `00-${'e'.repeat(32)}-${'d'.repeat(16)}-01`
    await judge({}, {}, logOf(kit, { project_id: 'default' }), parent)
    const projectOf = async () => (await readTrace(kit.gateway.storage, 'e'.repeat(32))).run.project_id
    assert.equal(await projectOf(), 'default')
    for (const project_id of ['theirs', 'default']) {
      const { entry } = await judge({}, {}, logOf(kit, { project_id }), parent)
      assert.deepEqual([entry.trace_id, await projectOf()], ['e'.repeat(32), 'theirs'])
    }
    assert.equal((await spansOf(kit, 'e'.repeat(32), 'tool.call')).length, 3)
  })
  it('is its own where the named run belongs to another project, and the event says so', async () => {
    await judge({}, {}, logOf(kit, { project_id: 'theirs' }), `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`)
    const { entry } = await judge(
      {},
      {},
      logOf(kit, { project_id: 'mine' }),
      `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`,
    )
    assert.notEqual(entry.trace_id, 'c'.repeat(32))
    const [span] = await spansOf(kit, entry.trace_id, 'tool.call')
    assert.equal(decisionIn(span)?.attributes.trace_join_refused, true)
  })
  it('a fault of the run costs a call its trace, not its record', async () => {
    kit.gateway.hooks.keep.tap({ name: 'full', stage: -200 }, () => {
      throw new GuardError(replayErrors.RUN_FULL)
    })
    await judge()
    assert.equal((await recordsOf(kit)).length, 1)
    assert.equal(kit.faults.length, 1)
  })
})
