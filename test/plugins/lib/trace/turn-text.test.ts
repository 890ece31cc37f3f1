import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Turn } from 'guard-gateway/core'
import { newTurnsOf, resultsIn, turnsIn, turnText } from '#lib/trace'
import { isUserFirstIn, markOf } from '../../../../plugins/lib/trace/turn-text.ts'

const plain = (name: string): string => name

const turn = (over: Partial<Turn> = {}, calls: Turn['calls'] = []): Turn => ({
  calls,
  item: 3,
  user_after: false,
  ...over,
})

describe('turns as one text', () => {
  it('come back as they were: turns of words, several calls, no result, a failure, what the user said', () => {
    const turns = [
      turn(),
      turn({ item: 5, user_after: true }, [
        { key: 'k1', tool: 'read_file', id: null, result: 'r1', error: false, passed: true, effect: 'look' },
        { key: 'k2', tool: '', id: null, result: null, error: true, passed: false, effect: null },
      ]),
      turn({ item: 0 }),
    ]
    const text = turnText(turns, plain)
    assert.equal(text, '3;5+,read_file k1 r1 p, k2  1;0')
    assert.deepEqual(turnsIn(text), turns)
  })

  it('say whether a user message came before them', () => {
    for (const turns of [[], [turn(), turn({ item: 5, user_after: true })], [turn({ item: -1 })]]) {
      for (const first of [true, false]) {
        const text = turnText(turns, plain, first)
        assert.deepEqual([turnsIn(text), isUserFirstIn(text)], [turns, first])
      }
    }
  })

  it('hold any name', () => {
    for (const tool of ['a b;c,d+e', '%3B', 'fs/read', 'größe "x"\n', '💥', "!~*'()"]) {
      const turns = [turn({}, [{ key: 'k', tool, id: null, result: null, error: false, passed: false, effect: null }])]
      const text = turnText(turns, plain)
      assert.deepEqual(turnsIn(text), turns)
      assert.doesNotMatch(text, /["\\\n]/)
    }
    const half = turnText(
      [turn({}, [{ key: 'k', tool: 'a\ud800', id: null, result: null, error: false, passed: false, effect: null }])],
      plain,
    )
    assert.equal(turnsIn(half)[0]?.calls[0]?.tool, 'a\ufffd')
  })

  it('hold what arguments tell of a call, and not what its name tells', () => {
    const call = { key: 'k', id: null, result: 'r', error: false, passed: false }
    const calls: Turn['calls'] = [
      { ...call, tool: 'Bash', effect: 'edit' },
      { ...call, tool: 'Bash', effect: 'wait', error: true },
      { ...call, tool: 'Bash', effect: null, passed: true },
      { ...call, tool: 'editor', effect: 'look' },
      { ...call, tool: 'editor', effect: null },
      { ...call, tool: 'browser_click', effect: 'act' },
    ]
    const text = turnText([turn({}, calls)], plain)
    assert.equal(text, '3,Bash k r e,Bash k r 1w,Bash k r p,editor k r l,editor k r n,browser_click k r')
    assert.deepEqual(turnsIn(text), [turn({}, calls)])
  })

  it('hold ids only of turns that no body holds, an empty one too', () => {
    for (const id of ['call 1', '']) {
      const call = { key: 'k', tool: 't', id, result: null, error: false, passed: false, effect: null }
      const told = turnsIn(turnText([turn({ item: -1 }, [call]), turn({ item: 2 }, [call])], plain))
      assert.deepEqual(
        told.map(({ item, calls }) => [item, calls[0]?.id]),
        [
          [-1, id],
          [2, null],
        ],
      )
    }
  })

  it('hold marks of ids where there are results, by which calls of replies are found', () => {
    const call = { key: 'k', tool: 't', id: 'toolu_1', result: null, error: false, passed: false, effect: null }
    const calls = [call, { ...call, result: 'r' }, { ...call, error: true }, { ...call, passed: true, id: null }]
    const text = turnText([turn({}, calls), turn({ item: -1 }, [{ ...call, passed: true }])], plain)
    const mark = markOf('toolu_1')
    assert.equal(text, `3,t k ,t k r  #${mark},t k  1 #${mark},t k  p;-1,t k  p toolu_1`)
    assert.deepEqual(resultsIn(text), [
      { tool: 't', mark, error: false },
      { tool: 't', mark, error: true },
      { tool: 't', mark: null, error: false },
      { tool: 't', mark, error: false },
    ])
    assert.deepEqual(
      turnsIn(text)[0]?.calls.map(({ id }) => id),
      [null, null, null, null],
    )
    assert.deepEqual(resultsIn('3,read k r 0;4'), [{ tool: 'read', mark: null, error: false }])
    assert.deepEqual(resultsIn(''), [])
    // the record of a reply holds so much of an id
    assert.equal(markOf('x'.repeat(300)), markOf('x'.repeat(256)))
  })

  it('keep names of tools and ids as they are to be kept', () => {
    const call = { key: 'k', tool: 'tool', id: 'id', result: null, error: false, passed: false, effect: null }
    const [told] = turnsIn(turnText([turn({ item: -1 }, [call])], (name) => `<${name}>`))
    assert.deepEqual([told?.calls[0]?.tool, told?.calls[0]?.id], ['<tool>', '<id>'])
  })

  it('are none where nobody looked, and of a call without an effect it follows from the name', () => {
    assert.deepEqual(newTurnsOf({ turns: null }), [])
    const [told] = turnsIn('3,read k r ')
    assert.equal(told?.calls[0]?.effect, 'look')
  })
})
