import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { type Bench, expecting, refused, startReplay } from './kit.ts'

interface Listed {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
}

const list = async (bench: Bench, query: string): Promise<Listed> =>
  expecting<Listed>(200, await bench.send('GET', `/api/v1/runs?${query}`))

const idsOf = ({ runs }: Listed): readonly string[] => runs.map(({ trace_id }) => trace_id)

/** Reads all pages of a list. */
const walk = async (bench: Bench, query: string): Promise<readonly string[]> => {
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const page = await list(bench, `${query}${cursor}`)
    found.push(...idsOf(page))
    if (page.next_cursor === null) return found
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

const cost = (micro: number) => ({
  spans: [{ name: 'gen_ai.request', attributes: { 'guard.cost_micro': micro } }],
})

/** Runs of one agent by id, by name and by both, among runs of others. */
const sent = [
  { trace_id: 'id-1', agent_id: 'fixer', project_id: 'shop', ...cost(5) },
  { trace_id: 'name-1', agent_name: 'fixer', project_id: 'shop', ...cost(9) },
  { trace_id: 'other', agent_name: 'fixer-2', agent_id: 'coder' },
  { trace_id: 'both', agent_id: 'fixer', agent_name: 'fixer', ...cost(7) },
  { trace_id: 'named-otherwise', agent_id: 'fixer', agent_name: 'Nightly', ...cost(1) },
  { trace_id: 'name-2', agent_name: 'fixer', name: 'repair the lamp', ...cost(3) },
  { trace_id: 'nobody' },
]

for (const backend of ['memory', 'sqlite'] as const) {
  describe(`runs of one agent, ${backend}`, () => {
    const within = async (work: (bench: Bench) => Promise<void>): Promise<void> => {
      const bench = await startReplay({ backend })
      try {
        for (const body of sent) {
          expecting(201, await bench.send('POST', '/api/v1/traces', body))
          bench.clock.advance(1_000)
        }
        await work(bench)
      } finally {
        await bench.close()
      }
    }

    it('are found by id and by name, each once, newest first', () =>
      within(async (bench) => {
        const all = ['name-2', 'named-otherwise', 'both', 'name-1', 'id-1']
        assert.deepEqual(idsOf(await list(bench, 'agent=fixer')), all)
        for (const limit of [1, 2, 3, 4]) assert.deepEqual(await walk(bench, `agent=fixer&limit=${limit}`), all)
        assert.deepEqual(idsOf(await list(bench, 'agent=nobody')), [])
      }))

    it('are sorted in every order, page by page', () =>
      within(async (bench) => {
        const rising = ['named-otherwise', 'name-2', 'id-1', 'both', 'name-1']
        assert.deepEqual(await walk(bench, 'agent=fixer&sort=cost&order=asc&limit=2'), rising)
        assert.deepEqual(await walk(bench, 'agent=fixer&sort=cost&limit=2'), rising.toReversed())
      }))

    it('are narrowed by other filters, and older filters keep their meaning', () =>
      within(async (bench) => {
        assert.deepEqual(idsOf(await list(bench, 'agent=fixer&project_id=shop')), ['name-1', 'id-1'])
        assert.deepEqual(idsOf(await list(bench, 'agent=fixer&q=lamp')), ['name-2'])
        assert.deepEqual(idsOf(await list(bench, 'agent_id=fixer')), ['named-otherwise', 'both', 'id-1'])
        assert.deepEqual(idsOf(await list(bench, 'agent_name=fixer')), ['name-2', 'both', 'name-1'])
        assert.deepEqual(idsOf(await list(bench, 'agent=fixer&agent_name=Nightly')), ['named-otherwise'])
      }))

    it('reject the cursor of another list', () =>
      within(async (bench) => {
        const { next_cursor } = await list(bench, 'limit=1')
        refused(400, 'INVALID_CURSOR', await bench.send('GET', `/api/v1/runs?agent=fixer&cursor=${next_cursor}`))
        const own = (await list(bench, 'agent=fixer&limit=1')).next_cursor ?? ''
        refused(400, 'INVALID_CURSOR', await bench.send('GET', `/api/v1/runs?agent=coder&cursor=${own}`))
      }))
  })
}
