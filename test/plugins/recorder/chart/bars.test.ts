import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BAR, stackedBars } from '../../../../plugins/recorder/chart/strip.ts'

interface Line {
  readonly x: number
  readonly from: number
  readonly to: number
}

const linesOf = (path: string): readonly Line[] =>
  [...path.matchAll(/M([\d.]+) ([\d.]+)V([\d.]+)/g)].map(([, x, from, to]) => ({
    x: Number(x),
    from: Number(from),
    to: Number(to),
  }))

describe('stacked bars', () => {
  it('are as high as their values, one upon the other', () => {
    const layers = [
      [10, 0, 3, 997],
      [5, 7, 0, 3],
    ]
    const { top, paths } = stackedBars(layers)
    assert.equal(top, 1_000)
    const height = (value: number) => (value / top) * BAR.height
    for (const [layer, values] of layers.entries()) {
      const lines = linesOf(paths[layer] ?? '')
      assert.equal(lines.length, values.filter((value) => value > 0).length)
      for (const { x, from, to } of lines) {
        const bar = (x - BAR.width / 2) / BAR.width
        const below = layers.slice(0, layer).reduce((sum, one) => sum + (one[bar] ?? 0), 0)
        assert.ok(Math.abs(BAR.height - from - height(below)) <= 0.01, `bar ${bar} begins at ${from}`)
        assert.ok(Math.abs(from - to - height(values[bar] ?? 0)) <= 0.02, `bar ${bar} ends at ${to}`)
      }
    }
  })
  it('are told in few characters', () => {
    const { paths } = stackedBars([Array.from({ length: 60 }, (_, at) => (at * 7919) % 1_000)])
    assert.ok((paths[0]?.length ?? 0) < 60 * 20, `${paths[0]?.length}`)
  })
  it('are none without values, and one of one value', () => {
    assert.deepEqual(stackedBars([]), { top: 0, paths: [] })
    assert.deepEqual(stackedBars([[0, 0], []]), { top: 0, paths: ['', ''] })
    assert.deepEqual(stackedBars([[4]]), { top: 4, paths: ['M2 48V0'] })
  })
  it('leave out what is no number, and draw the largest there are', () => {
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -5, Number.MAX_SAFE_INTEGER, 1]
    const { top, paths } = stackedBars([odd, odd])
    assert.ok(top >= 2 * Number.MAX_SAFE_INTEGER && Number.isFinite(top))
    assert.deepEqual(
      linesOf(paths[0] ?? '').map(({ x, from, to }) => [x, from > to]),
      [[14, true]],
      'what is lower than a hundredth of a unit is not drawn',
    )
    for (const path of paths) assert.doesNotMatch(path, /NaN|Infinity|-|e/)
  })
})
