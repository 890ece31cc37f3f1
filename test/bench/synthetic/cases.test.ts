import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { readRequest } from '#lib/request-reader'
import { syntheticCases, syntheticKinds } from '../../../bench/synthetic/cases.ts'

test('equal seeds make equal runs, and other seeds make others', () => {
  const bodies = (seed: number) =>
    syntheticCases(seed, 1).flatMap((one) => [...one.requests()].map(({ body }) => body.toString()))
  const [first, again, other] = [bodies(1), bodies(1), bodies(2)]
  assert.deepEqual(first, again)
  assert.ok(first.some((body, index) => body !== other[index]))
})

test('every kind has loops and look-alikes with unique ids', () => {
  const cases = syntheticCases(3, 1)
  assert.deepEqual(new Set(cases.map(({ kind }) => kind)), new Set(syntheticKinds()))
  assert.equal(new Set(cases.map(({ id }) => id)).size, cases.length)
  for (const label of ['loop', 'clean']) assert.ok(cases.filter((one) => one.label === label).length >= 20, label)
})

test('the first repetition is at the stated request', () => {
  for (const one of syntheticCases(5, 1).filter(({ kind }) => kind === 'same_call' || kind === 'ping_pong')) {
    const last = [...one.requests()].map(({ body }) => readRequest(messages, body).conversation).at(-1)
    const keys = last?.turns.map(({ calls }) => calls[0]?.key) ?? []
    const repeats = keys.findIndex((key, index) => keys.indexOf(key) < index)
    assert.equal(repeats + 2, one.loop_start_step, one.id)
  }
})
