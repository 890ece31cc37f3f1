import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ToolCall, Turn } from 'guard-gateway/core'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { evidence } from '../../kit/evidence.ts'
import { aRow } from '../../kit/settled.ts'

const CALLS = 4_096
/** Of a call's key and flags, for each call and turn: what finding a place among sorted keys takes, and not what looking through all does. */
const LOOKS = 120

/** Turns of many calls that count how often anybody looks at one. */
const counted = (turns: number, call: (turn: number, place: number) => Partial<ToolCall>) => {
  let looks = 0
  const look = <T>(value: T): T => {
    looks++
    return value
  }
  const made = Array.from({ length: turns }, (_, turn): Turn => {
    const calls = Array.from({ length: CALLS }, (_, place) => {
      const key = String(place).padStart(32, '0')
      const rest = { tool: 'read', id: null, result: `r${turn} ${place}`, passed: false, error: false, effect: null }
      const plain = { ...rest, ...call(turn, place) }
      return Object.defineProperties({} as ToolCall, {
        ...Object.fromEntries(
          Object.entries(plain).map(([name, value]) => [name, { get: () => look(value), enumerable: true }]),
        ),
        key: { get: () => look(plain.key ?? key), enumerable: true },
      })
    })
    return { calls, item: turn, user_after: false }
  })
  return { turns: made, looks: () => looks }
}

const assertFew = (looks: number, turns: number): void =>
  assert.ok(looks > 0 && looks < CALLS * turns * LOOKS, `${looks} looks at ${CALLS} calls of ${turns} turns`)

describe('a turn of thousands of calls', () => {
  it('takes tool_repeat no look through the turn for each call', () => {
    const { turns, looks } = counted(3, (turn, place) => ({ key: `${String(place).padStart(31, '0')}${turn}` }))
    assert.equal(toolRepeat.detect(evidence(toolRepeat, 'a', { turns })), undefined)
    assertFew(looks(), 3)
  })
  it('takes tool_repeat no look through the keys of each request', () => {
    const keys = Array.from({ length: CALLS }, (_, place) => String(place).padStart(32, '0'))
    const others = keys.map((key) => `${key}x`)
    let looks = 0
    const watched = new Proxy(others, {
      get(list, name) {
        looks++
        return Reflect.get(list, name)
      },
    })
    const past = ['p', 'q'].map((id) => aRow({ id, thread: 'own', keys: watched }))
    const row = aRow({ id: 'r', thread: 'own', root: false, keys })
    const { turns } = counted(1, () => ({}))
    assert.equal(toolRepeat.detect({ ...evidence(toolRepeat, 'a', { turns }), row, past }), undefined)
    assertFew(looks, 2)
  })
  it('takes stale_turns none', () => {
    const { turns, looks } = counted(3, (_, place) => ({ result: `same ${place}` }))
    staleTurns.detect(evidence(staleTurns, 'a', { turns }))
    assertFew(looks(), 3)
  })
  it('takes tool_error_streak none, and the streak is found all the same', () => {
    const distinct = counted(3, (turn, place) => ({ error: true, result: `e${turn} ${place}` }))
    assert.equal(toolErrorStreak.detect(evidence(toolErrorStreak, 'a', { turns: distinct.turns })), undefined)
    assertFew(distinct.looks(), 3)
    const same = counted(4, (turn, place) => ({
      error: true,
      result: place === CALLS - 1 ? 'same' : `e${turn} ${place}`,
    }))
    const found = toolErrorStreak.detect(evidence(toolErrorStreak, 'a', { turns: same.turns }))
    assert.ok(typeof found === 'object' && found.count === 4 && found.key === String(CALLS - 1).padStart(32, '0'))
    assertFew(same.looks(), 4)
  })
  it('has equal calls found among them', () => {
    const { turns } = counted(3, () => ({}))
    const found = toolRepeat.detect(evidence(toolRepeat, 'a', { turns }))
    assert.ok(typeof found === 'object' && found.count === 3)
  })
})
