import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FigureGroup, type FiguresQuery, RecentNames } from '#lib/trace'

const NOW = Date.parse('2026-03-02T12:00:00Z')

/** Figures that know these names, and remember what they were asked. */
const figuresOf = (names: readonly (string | null)[]) => {
  const asked: FiguresQuery[] = []
  const read = async (query: FiguresQuery) => {
    asked.push(query)
    return { series: names.map((group) => ({ group })) } as never
  }
  return { asked, figures: { read } }
}

describe('RecentNames', () => {
  it('are those of the last seven days, without what is no name', async () => {
    const { asked, figures } = figuresOf(['coder', null, '(other)', 'reviewer'])
    const names = new RecentNames(() => figures)
    assert.deepEqual(await names.of('agent', NOW), ['coder', 'reviewer'])
    assert.deepEqual(asked, [{ since: NOW - 7 * 86_400_000, until: NOW + 1, step: 'day', group: 'agent' }])
  })

  it('are read again after half a minute, each group by itself', async () => {
    const { asked, figures } = figuresOf(['a'])
    const names = new RecentNames(() => figures)
    const ask = (group: FigureGroup, after: number) => names.of(group, NOW + after)
    for (const after of [0, 29_999, 30_000, 30_001]) await ask('agent', after)
    await ask('model', 30_002)
    assert.deepEqual(
      asked.map(({ group, until }) => [group, until - NOW - 1]),
      [
        ['agent', 0],
        ['agent', 30_000],
        ['model', 30_002],
      ],
    )
  })

  it('are none where nothing keeps figures, and where they cannot be read', async () => {
    assert.deepEqual(await new RecentNames(() => undefined).of('agent', NOW), [])
    const broken = { read: () => Promise.reject(new Error('busy')) }
    assert.deepEqual(await new RecentNames(() => broken).of('agent', NOW), [])
  })
})
