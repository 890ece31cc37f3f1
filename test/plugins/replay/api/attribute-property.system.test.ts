import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Attributes } from 'guard-gateway/core'
import type { RunSummary } from '#lib/trace-file'
import { postgres } from '../../../../plugins/storage/postgres/index.ts'
import { needsPostgres, newDatabase } from '../../../kit/postgres.ts'
import { type Bench, type BenchOptions, type Bundle, expecting, startReplay } from '../kit.ts'

const VALUES: readonly unknown[] = [
  ...[
    'a b',
    'x=y',
    '%41',
    'ü',
    'u\u0308',
    'SS',
    'ß',
    'İ',
    '😀',
    '\ud800x',
    '"q"',
    "'; drop table runs;--",
    '*',
    'NEAR(',
  ],
  ...[
    '{}',
    'null',
    'true',
    '-0',
    '1e3',
    '1000',
    '1000.0',
    '5.0',
    '05',
    '0x10',
    '16',
    ' 5 ',
    'NaN',
    '>=5',
    '~',
    '\u202e',
  ],
  ...['a'.repeat(256), 'a'.repeat(257), 'constructor', '__proto__', '\u212b', '\u00c5'],
  ...[0, -1, 5, 999_999, 1_000_000, 0.5, 1e21, 2 ** 53 - 1, true, false, null],
]
const NAMES = ['a', 'a.b', 'a.b.c', 'my key', 'ключ', '__proto__', 'constructor', 'A', 'é', 'e\u0301', '0', '%', 'a..b']
NAMES.push(
  'model',
  'error.type',
  'guard.request_id',
  'gen_ai.tool.call.id',
  'http.response.status_code',
  'x'.repeat(256),
)

/** Numbers from 0 to 1, the same ones each time. */
const numbers = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

const attributesBy = (random: () => number, count: number, depth = 0): Attributes => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const value = (): unknown => {
    const shape = random()
    if (shape < 0.1) return Array.from({ length: shape < 0.05 ? 40 : 3 }, () => pick(VALUES))
    return shape < 0.3 && depth < 6 ? attributesBy(random, 2, depth + 1) : pick(VALUES)
  }
  // JSON.parse alone makes a member called __proto__
  const members = Array.from({ length: count }, () => `${JSON.stringify(pick(NAMES))}:${JSON.stringify(value())}`)
  return JSON.parse(`{${members.join(',')}}`)
}

/** The tests that an attribute meets, as name and text; without a text: it exists. */
const testsOf = (name: string, value: unknown): readonly (readonly [name: string, text?: string])[] => {
  if (value === null) return []
  if (Array.isArray(value))
    return [[name], ...value.filter((one) => one !== null).map((one) => [name, String(one)] as const)]
  if (typeof value !== 'object') return [[name], [name, String(value)]]
  return [[name], ...Object.entries(value as object).flatMap(([member, one]) => testsOf(`${name}.${member}`, one))]
}

const keyOf = ([name, text]: readonly [string, string?]): string => {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return JSON.stringify([name, Number.isFinite(number) ? number : text])
}

const stored = async (bench: Bench, trace_id: string): Promise<readonly Attributes[]> => {
  const { run, spans } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${trace_id}`))
  return [run, ...spans].map(({ attributes }) => attributes)
}

const found = async (bench: Bench, filter: string): Promise<readonly string[]> => {
  const path = `/api/v1/runs?limit=200&attribute=${encodeURIComponent(filter)}`
  const page = expecting<{ readonly runs: readonly RunSummary[]; readonly next_cursor: string | null }>(
    200,
    await bench.send('GET', path),
  )
  assert.equal(page.next_cursor, null)
  return page.runs.map(({ trace_id }) => trace_id).toSorted()
}

interface Expected {
  readonly filter: string
  readonly runs: Set<string>
}

/** The runs that each test must find, by what their records hold as they are stored. */
const expectedOf = async (bench: Bench, ids: readonly string[]): Promise<readonly Expected[]> => {
  const expected = new Map<string, Expected>()
  for (const trace_id of ids) {
    const tests = (await stored(bench, trace_id)).flatMap((attributes) =>
      Object.entries(attributes).flatMap(([name, value]) => testsOf(name, value)),
    )
    for (const test of tests) {
      const known = expected.get(keyOf(test)) ?? { filter: test.join('='), runs: new Set<string>() }
      expected.set(keyOf(test), known)
      known.runs.add(trace_id)
    }
  }
  return [...expected.values()].filter(({ filter }) => filter.length <= 1_024)
}

const check = async (options: BenchOptions): Promise<void> => {
  const bench = await startReplay(options)
  const random = numbers(31)
  const ids = Array.from({ length: 25 }, (_, n) => `run-${n}`)
  try {
    for (const trace_id of ids) {
      const spans = [{ name: 'step', attributes: attributesBy(random, 4) }]
      const body = { trace_id, attributes: attributesBy(random, 3), spans }
      expecting(201, await bench.send('POST', '/api/v1/traces', body))
    }
    const expected = await expectedOf(bench, ids)
    assert.ok(expected.length > 300)
    for (const { filter, runs } of expected) assert.deepEqual(await found(bench, filter), [...runs].toSorted(), filter)
  } finally {
    await bench.close()
  }
}

describe('every attribute that is stored leads to the runs that have it, and to no other', () => {
  for (const backend of ['memory', 'sqlite'] as const) it(`in ${backend}`, () => check({ backend }))

  it('in postgres', needsPostgres, async () => check({ storage: postgres({ url: await newDatabase() }) }))
})
