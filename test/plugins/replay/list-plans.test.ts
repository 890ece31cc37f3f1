import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { runQuery } from '../../../plugins/replay/api/filters.ts'
import { tables } from '../../../plugins/replay/tables.ts'
import { type FindPlan, findPlanOf } from '../../../plugins/storage/kysely/find.ts'
import { clausesOf } from '../../../plugins/storage/kysely/values.ts'
import { type Bench, expecting, startReplay } from './kit.ts'

const scanFor = (query: Record<string, string>): FindPlan => {
  const runs = tables.find(({ id }) => id === 'runs')
  assert.ok(runs)
  const { where = {} } = runQuery(query, 0)
  const clauses = clausesOf(runs, where as Parameters<typeof clausesOf>[1], [])
  return findPlanOf(runs, { kind: 'find', table: 'runs', where: clauses, order: ['recorded', 'desc'], search: false })
}

describe('filters of a list', () => {
  const walked: readonly [query: Record<string, string>, by: readonly string[]][] = [
    [{ project_id: 'p' }, ['project_id']],
    [{ session_id: 's' }, ['session_id']],
    [{ agent_id: 'a' }, ['agent_id']],
    [{ agent_name: 'a' }, ['agent_name']],
    [{ status: 'error' }, ['status']],
    [{ failure_tag: 'loop' }, ['failure_tag']],
    [{ pinned: 'true' }, ['pinned']],
    [{ project_id: 'p', status: 'error' }, ['project_id', 'status']],
    [{ project_id: 'p', pinned: 'true' }, ['project_id', 'pinned']],
    [{ project_id: 'p', failure_tag: 'loop' }, ['failure_tag', 'project_id']],
    [{ agent_id: 'a', status: 'error' }, ['agent_id', 'status']],
    [{ agent_id: 'a', project_id: 'p' }, ['agent_id', 'project_id']],
    [{ agent_id: 'a', failure_tag: 'loop' }, ['failure_tag', 'agent_id']],
    [{ status: 'error', failure_tag: 'loop' }, ['status', 'failure_tag']],
    [{ status: 'error', failure_tag: 'none' }, ['status', 'failure_tag']],
  ]
  for (const [query, by] of walked) {
    it(`${Object.keys(query).join(' and ')}: the scan reads only matching runs`, () => {
      const scan = scanFor(query)
      assert.equal(scan.exact, true)
      assert.deepEqual([...scan.held].sort(), [...by].sort())
    })
  }

  it('a scan by session precedes a scan by project, because fewer runs share a session', () => {
    assert.deepEqual([...scanFor({ project_id: 'p', session_id: 'x' }).held], ['session_id'])
  })

  it('a scan of pinned runs precedes status, tag and agent; a scan of unpinned runs follows them', () => {
    for (const other of [{ status: 'error' }, { failure_tag: 'loop' }, { agent_id: 'a' }]) {
      assert.deepEqual([...scanFor({ ...other, pinned: 'true' }).held], ['pinned'])
      assert.deepEqual([...scanFor({ ...other, pinned: 'false' }).held], Object.keys(other))
    }
  })

  it('a search within a project, session or agent includes their words', () => {
    const { search, where } = runQuery({ q: 'read_file', project_id: 'Shop-2', agent_id: 'a1' }, 0)
    assert.deepEqual(search, ['read_file', 'shop', '2', 'a1'])
    assert.deepEqual(where, { project_id: 'Shop-2', agent_id: 'a1' })
    assert.equal(runQuery({ project_id: 'shop' }, 0).search, undefined)
  })
})

for (const backend of ['memory', 'sqlite'] as const) {
  describe(`a search with filters, ${backend}`, () => {
    const found = async (bench: Bench, query: string): Promise<readonly string[]> => {
      const answer = await bench.send('GET', `/api/v1/runs?${query}`)
      return expecting<{ runs: readonly RunSummary[] }>(200, answer).runs.map(({ trace_id }) => trace_id)
    }

    it('finds runs with the word in the project, session or agent, also after a later rename', async () => {
      const bench = await startReplay({ backend })
      try {
        const runsSent = [
          { trace_id: 'a', project_id: 'shop', name: 'repair the lamp' },
          { trace_id: 'b', project_id: 'shop.eu', name: 'repair the shop' },
          { trace_id: 'c', project_id: 'blog', name: 'repair the shop lamp' },
        ]
        for (const body of runsSent) expecting(201, await bench.send('POST', '/api/v1/traces', body))
        const later = { trace_id: 'c', session_id: 'evening', agent_id: 'builder' }
        expecting(200, await bench.send('POST', '/api/v1/traces', later))
        assert.deepEqual(await found(bench, 'q=repair'), ['c', 'b', 'a'])
        assert.deepEqual(await found(bench, 'q=repair&project_id=shop'), ['a'])
        assert.deepEqual(await found(bench, 'q=shop&project_id=blog'), ['c'])
        assert.deepEqual(await found(bench, 'q=lamp&session_id=evening'), ['c'])
        assert.deepEqual(await found(bench, 'q=lamp&agent_id=builder'), ['c'])
        assert.deepEqual(await found(bench, 'q=lamp&project_id=nowhere'), [])
      } finally {
        await bench.close()
      }
    })
  })
}
