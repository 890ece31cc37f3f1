import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LabelValues } from '../../../plugins/metrics/parts.ts'
import { Counter, exposition, gauge, Histogram } from '../../../plugins/metrics/samples.ts'

describe('metrics as text', () => {
  it('a counter adds up by labels, and says nothing before it has counted', () => {
    const counter = new Counter('x_total', 'Things.', ['kind'])
    assert.equal(exposition([counter]), '')
    counter.add(['a'])
    counter.add(['b'], 4)
    counter.add(['a'], 2)
    assert.equal(
      exposition([counter]),
      '# HELP x_total Things.\n# TYPE x_total counter\nx_total{kind="a"} 3\nx_total{kind="b"} 4\n',
    )
  })
  it('a histogram counts what lies at or below each bound, and everything in +Inf', () => {
    const histogram = new Histogram('s', 'Seconds.', [1, 2], ['of'])
    for (const value of [0.5, 1, 1.5, 9]) histogram.of(['x']).observe(value)
    assert.deepEqual(
      [...histogram.samples()],
      [
        's_bucket{of="x",le="1"} 2\n',
        's_bucket{of="x",le="2"} 3\n',
        's_bucket{of="x",le="+Inf"} 4\n',
        's_sum{of="x"} 12\n',
        's_count{of="x"} 4\n',
      ],
    )
  })
  it('a histogram without labels has none but its bounds', () => {
    const histogram = new Histogram('s', 'Seconds.', [1])
    const all = histogram.of([])
    assert.deepEqual([...histogram.samples()], [])
    all.observe(3)
    assert.deepEqual(
      [...histogram.samples()],
      ['s_bucket{le="1"} 0\n', 's_bucket{le="+Inf"} 1\n', 's_sum 3\n', 's_count 1\n'],
    )
  })
  it('a gauge is looked at when asked; label values are escaped', () => {
    let now = 1
    const made = gauge('g', 'Now.', ['name'], () => [[['a"b\\c\nd'], now]])
    now = 2
    assert.deepEqual([...made.samples()], ['g{name="a\\"b\\\\c\\nd"} 2\n'])
  })
  it('words from outside are redacted, and few', () => {
    const values = new LabelValues(2, (text) => text.replace('secret', '[hidden]'))
    assert.deepEqual(
      ['secret', 'b', 'c', 'secret', 'x'.repeat(129)].map((word) => values.of(word)),
      ['[hidden]', 'b', 'other', '[hidden]', 'other'],
    )
  })
})
