import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { objectionsTo, pointed, pointedTexts, TOOK_TOO_LONG } from 'guard-gateway/lib/check-arguments'

describe('a pointer into the arguments of a tool call', () => {
  const args = { path: 'a', paths: ['b', 'c'], 'x/y': { '~': 1 }, deep: [{ to: 'd' }, {}], none: [] }
  const met = (pointer: string) => pointed(args, pointer).map((one) => [one.pointer, one.value])

  it('meets one value', () => assert.deepEqual(met('/path'), [['/path', 'a']]))
  it('meets every element with *', () => {
    assert.deepEqual(met('/paths/*'), [
      ['/paths/0', 'b'],
      ['/paths/1', 'c'],
    ])
  })
  it('tells which elements lack a member', () => {
    assert.deepEqual(met('/deep/*/to'), [
      ['/deep/0/to', 'd'],
      ['/deep/1/to', undefined],
    ])
  })
  it('meets nothing below an empty list and a missing member, and nothing of use below a scalar', () => {
    assert.deepEqual(met('/none/*'), [['/none/*', undefined]])
    assert.deepEqual(met('/path/*'), [['/path/*', false]])
    assert.deepEqual(met('/path/to'), [['/path/to', false]])
    assert.deepEqual(met('/absent/to'), [['/absent/to', undefined]])
  })
  it('unescapes names and escapes them in answers', () => {
    assert.deepEqual(met('/x~1y/~0'), [['/x~1y/~0', 1]])
    assert.deepEqual(met('/x~1y/*'), [['/x~1y/~0', 1]])
  })
  it('sees own members alone', () => {
    assert.deepEqual(met('/toString'), [['/toString', undefined]])
    assert.deepEqual(met('/paths/length'), [['/paths/length', undefined]])
    assert.deepEqual(met('/__proto__'), [['/__proto__', undefined]])
    const own = JSON.parse('{"__proto__":"x"}')
    assert.deepEqual(pointed(own, '/__proto__'), [{ pointer: '/__proto__', value: 'x' }])
  })
  it('gives the strings, and finds fault with what is missing or no string', () => {
    const options = { args: ['/path', '/deep', '/absent'] }
    assert.deepEqual(pointedTexts(args, options), {
      texts: [{ pointer: '/path', text: 'a' }],
      findings: [
        { pointer: '/deep', reason: 'must be a string', certain: true },
        { pointer: '/absent', reason: 'is missing', certain: true },
      ],
    })
    assert.deepEqual(pointedTexts(args, { ...options, optional: true }).findings, [
      { pointer: '/deep', reason: 'must be a string', certain: true },
    ])
  })
})

describe('what a check objects to in values', () => {
  const values = ['/a', '/b', '/c', '/d'].map((pointer) => ({ pointer }))
  const found = { reason: 'is b', certain: true }

  it('is told with the pointer of each', () => {
    const objection = ({ pointer }: { pointer: string }) => (pointer === '/b' ? found : undefined)
    assert.deepEqual(objectionsTo(values, objection), [{ pointer: '/b', ...found }])
    assert.deepEqual(objectionsTo([], objection), [])
  })
  it('cannot be told of the next one when their time is over', () => {
    let now = 0
    const clock = mock.method(performance, 'now', () => now)
    try {
      const findings = objectionsTo(values, () => {
        now += 130
        return undefined
      })
      const reason = 'cannot be judged: the check took too long'
      assert.deepEqual(findings, [{ pointer: '/c', reason, certain: false }])
      const steps = objectionsTo(values.slice(1, 2), (_value, isLate) => {
        while (!isLate()) now += 130
        return TOOK_TOO_LONG
      })
      assert.deepEqual(steps, [{ pointer: '/b', reason, certain: false }])
    } finally {
      clock.mock.restore()
    }
  })
})
