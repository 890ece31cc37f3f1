import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { portsOf } from '../../../bench/load/client.ts'
import { differences } from '../../../bench/scale/exact.ts'
import { scriptOf } from '../../../bench/scale/exact-script.ts'

/** How often each of the texts stands in the list, most often first. */
const repeats = (texts: readonly string[]): readonly number[] => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts.values()].sort((a, b) => b - a)
}

describe('the requests of the exactness check', () => {
  it('are the same in every run, and others for every agent', () => {
    assert.deepEqual(scriptOf(3, 60), scriptOf(3, 60))
    assert.equal(scriptOf(3, 60).length, 60)
    const sessions = [0, 1, 2, 3].flatMap((agent) => [...new Set(scriptOf(agent, 60).map(({ session }) => session))])
    assert.equal(new Set(sessions).size, sessions.length)
  })
  it('hold loops of texts and of tool calls', () => {
    const bodies = Array.from({ length: 8 }, (_, agent) => scriptOf(agent, 100))
      .flat()
      .map(({ body }) => JSON.stringify(body))
    const texts = repeats(bodies.filter((text) => !text.includes('tool_calls')))
    assert.ok((texts[0] ?? 0) >= 3 && texts.at(-1) === 1)
    const paths = bodies.map((text) => [...text.matchAll(/src\/\d+\.ts/g)].map(([path]) => path))
    assert.ok(paths.some((used) => (repeats(used)[0] ?? 0) >= 3))
  })
})

describe('decisions of several processes', () => {
  const scripts = [Array.from({ length: 9 }, (_, at) => ({ session: `s-${at}`, body: {} }))]
  const allow = (count: number) => [Array.from({ length: count }, () => [200, 'allow', ''] as const)]
  it('equal those of one', () => {
    assert.deepEqual(differences(scripts, allow(9), allow(9)), [])
  })
  it('are told apart by status, decision, reason and number, the first ones at length', () => {
    const blocked = [allow(9)[0]?.map((answer, at) => (at === 4 ? ([409, 'block', 'loop'] as const) : answer)) ?? []]
    assert.deepEqual(differences(scripts, blocked, allow(9)), [
      's-4, request 5 of its agent: 409 block loop, where one process says 200 allow ',
    ])
    const found = differences(scripts, allow(0), allow(9))
    assert.equal(found.length, 6)
    assert.equal(found[5], '4 more decisions differ')
  })
})

describe('routing of clients', () => {
  it('keeps each client at one port, and spreads clients', () => {
    assert.deepEqual(
      [0, 1, 2, 3].map((client) => portsOf([81, 82, 83], client, 'sticky')),
      [[81], [82], [83], [81]],
    )
  })
  it('sends each request of a client to another port', () => {
    assert.deepEqual(portsOf([81, 82, 83], 1, 'any'), [82, 83, 81])
    assert.deepEqual(portsOf([81], 5, 'any'), [81])
  })
})
