import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { type Bench, expecting, startReplay } from '../kit.ts'

describe('a run is found', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay()
  })
  after(() => bench.close())
  const found = async (query: string): Promise<readonly string[]> => {
    const { runs } = expecting<{ runs: RunSummary[] }>(200, await bench.send('GET', `/api/v1/runs?${query}`))
    return runs.map(({ trace_id }) => trace_id)
  }

  it('by a replaced tag, and no longer by the old one', async () => {
    for (const tags of [['first'], ['second']])
      await bench.send('POST', '/api/v1/traces', { trace_id: 'retagged', name: 'first second', tags })
    assert.deepEqual([await found('tag=first'), await found('tag=second')], [[], ['retagged']])
  })

  it('by a replaced name, and by old words only if its records have them', async () => {
    const sent = { trace_id: 'named', name: 'badger lynx', spans: [{ name: 'lynx' }] }
    expecting(201, await bench.send('POST', '/api/v1/traces', sent))
    expecting(200, await bench.send('PATCH', '/api/v1/runs/named', { name: 'otter' }))
    assert.deepEqual(
      [await found('q=badger'), await found('q=lynx'), await found('q=otter')],
      [[], ['named'], ['named']],
    )
    expecting(200, await bench.send('POST', '/api/v1/traces', { trace_id: 'named', name: 'walrus' }))
    assert.deepEqual(
      [await found('q=otter'), await found('q=lynx'), await found('q=walrus')],
      [[], ['named'], ['named']],
    )
  })

  it('by the current words of its records, and no longer by old ones', async () => {
    const sent = (word: string) => ({
      trace_id: 'resaid',
      spans: [
        {
          id: 'm',
          name: `${word}-span`,
          attributes: { 'gen_ai.request.model': `${word}-model` },
          events: [{ id: 'e', name: 'note', attributes: { text: `${word}-note` } }],
        },
        {
          id: 't',
          name: 'tool.call',
          status_message: `${word}-message`,
          attributes: { 'gen_ai.tool.name': `${word}-tool` },
        },
        { id: 'o', name: 'other', attributes: { said: 'kept common' } },
      ],
    })
    const queries = (word: string) =>
      [`q=${word}`, `model=${word}-model`, `tool=${word}-tool`].map((query) => found(query))
    expecting(201, await bench.send('POST', '/api/v1/traces', sent('common')))
    expecting(200, await bench.send('POST', '/api/v1/traces', sent('puma')))
    assert.deepEqual(await Promise.all(queries('puma')), [['resaid'], ['resaid'], ['resaid']])
    assert.deepEqual(await Promise.all(queries('common')), [['resaid'], [], []])
    expecting(200, await bench.send('POST', '/api/v1/traces', sent('lynx2')))
    assert.deepEqual(await Promise.all(queries('puma')), [[], [], []])
  })

  it('by its own words, however many words its spans have', async () => {
    const spans = Array.from({ length: 28 }, (_, span) => {
      const texts = Array.from({ length: 30 }, (_, text) =>
        Array.from({ length: 30 }, (_, word) => `w${(span * 30 + text) * 30 + word}`).join(' '),
      )
      return { name: 'x', attributes: { ...texts } }
    })
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'wordy', spans }))
    expecting(200, await bench.send('PATCH', '/api/v1/runs/wordy', { tags: ['late tag'], name: 'renamed' }))
    const more = {
      agent_id: 'late-agent',
      spans: [{ name: 'x', attributes: { 'gen_ai.request.model': 'late-model' } }],
    }
    expecting(200, await bench.send('POST', '/api/v1/traces', { trace_id: 'wordy', ...more }))
    for (const query of ['q=w5', 'tag=late+tag', 'q=renamed', 'agent_id=late-agent&q=w5', 'model=late-model'])
      assert.deepEqual(await found(query), ['wordy'], query)
  })
})
