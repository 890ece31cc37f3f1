import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textsAtPointers, valuesAtPointer } from '#lib/check-arguments'

describe('a pointer into the arguments of a tool call', () => {
  const args = { path: 'a', paths: ['b', 'c'], 'x/y': { '~': 1 }, deep: [{ to: 'd' }, {}], none: [] }
  const met = (pointer: string) => [...valuesAtPointer(args, pointer)].map((one) => [one.pointer, one.value])

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
    assert.deepEqual([...valuesAtPointer(own, '/__proto__')], [{ pointer: '/__proto__', value: 'x' }])
  })
  it('gives the strings, and finds fault with what is missing or no string', () => {
    const options = { args: ['/path', '/deep', '/absent'] }
    const wrong = (reason: string) => ({ reason, certain: true })
    const [path, deep] = [
      { pointer: '/path', text: 'a' },
      { pointer: '/deep', wrong: wrong('must be a string') },
    ]
    assert.deepEqual(
      [...textsAtPointers(args, options)],
      [path, deep, { pointer: '/absent', wrong: wrong('is missing') }],
    )
    assert.deepEqual([...textsAtPointers(args, { ...options, optional: true })], [path, deep])
  })
  it('is examined one by one', () => {
    const list = [1, 2]
    const values = valuesAtPointer({ list }, '/list/*')[Symbol.iterator]()
    assert.equal(values.next().value.value, 1)
    list[1] = 3
    assert.equal(values.next().value.value, 3)
  })
})
