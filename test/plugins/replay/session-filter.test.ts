import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { derivedId } from '#lib/ids'
import { aSessionRow } from '../../kit/settled.ts'
import { type Bench, expecting, startReplay } from './kit.ts'

interface Page {
  readonly runs: readonly { readonly trace_id: string; readonly session_id: string | null }[]
  readonly next_cursor: string | null
}

for (const backend of ['memory', 'sqlite'] as const)
  describe(`runs of a session with earlier runs, on ${backend}`, () => {
    const id = derivedId('ses_', 'default', 'talk')
    let bench: Bench
    before(async () => {
      bench = await startReplay({ backend })
      const post = (trace_id: string, more: object = {}) =>
        bench.send('POST', '/api/v1/traces', { trace_id, session_id: 'talk', name: 'lamp', ...more })
      await post('early')
      await bench.gateway.storage.put('sessions', aSessionRow({ id, project_id: 'default', external_id: 'talk' }))
      await post('late', { name: 'lamp two' })
      await post('elsewhere', { project_id: 'shop' })
      await post('other', { session_id: 'other' })
      await post('blank', { session_id: 'night talk' })
    })
    after(() => bench.close())
    const page = async (query: string): Promise<Page> =>
      expecting(200, await bench.send('GET', `/api/v1/runs?${query}`))
    const found = async (query: string) => (await page(query)).runs.map(({ trace_id }) => trace_id)

    it('have its name or its id', async () => {
      const labels = (await page('project_id=default')).runs.map(({ session_id }) => session_id)
      assert.deepEqual(labels, [derivedId('ses_', 'default', 'night talk'), 'other', id, 'talk'])
    })

    for (const asked of ['talk', id]) {
      it(`are all found by ${asked === id ? 'its id' : 'its name'}`, async () => {
        assert.deepEqual(await found(`session_id=${asked}&project_id=default`), ['late', 'early'])
        assert.deepEqual(await found(`session_id=${asked}&q=lamp&project_id=default`), ['late', 'early'])
        assert.deepEqual(await found(`session_id=${asked}&q=two`), ['late'])
        assert.deepEqual(await found(`session_id=${asked}&project_id=shop`), asked === id ? [] : ['elsewhere'])
      })

      it(`are found page by page by ${asked === id ? 'its id' : 'its name'}`, async () => {
        const first = await page(`session_id=${asked}&project_id=default&limit=1`)
        assert.equal(first.runs[0]?.trace_id, 'late')
        const query = `session_id=${asked}&project_id=default&limit=1&cursor=${first.next_cursor}`
        assert.deepEqual(await found(query), ['early'])
      })
    }

    it('are found by a name that is no valid id', async () => {
      assert.deepEqual(await found('session_id=night%20talk'), ['blank'])
      assert.deepEqual(await found('session_id=other'), ['other'])
      assert.deepEqual(await found('session_id=nobody'), [])
    })
  })
