import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GuardError } from 'guard-gateway/core'
import { readJsonChunked, readJsonStrict, type StrictJson } from '#lib/json'
import { Pace } from '#lib/time-slice'

const SEED = { seed: 20261126, numRuns: 60 }
const LONG = 300_000

/** What reading gives or refuses. */
const outcome = async (read: () => unknown): Promise<unknown> => {
  try {
    return { value: await read() }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    return { code: error.code, message: error.message, place: error.place }
  }
}

const readAlike = async (text: string, options: StrictJson = { max_depth: 40, unique: true }): Promise<void> => {
  const bytes = Buffer.from(text)
  const read = await outcome(() => readJsonChunked(bytes, options))
  assert.deepStrictEqual(read, await outcome(() => readJsonStrict(bytes, options)))
}

/** A list of so many bytes at least, and a text of that length without a comma. */
const filler = (bytes = LONG): string => `[${'"some text",'.repeat(bytes / 12)}0]`
const text = JSON.stringify('word '.repeat(LONG / 5))

describe('a long JSON text read chunk by chunk', () => {
  it('is the same value, wherever it is cut', async () => {
    const item = '{"id":"é","n":[1,[2,3],{}],"12":true,"pat\\u0068":12345678901234567890}'
    const many = Array.from({ length: 5_000 }, () => item).join(',\n ')
    const members = (count: number, value: string): string =>
      Array.from({ length: count }, (_, n) => `"${n % 3 === 0 ? n : `m${n}`}":${value}`).join(', ')
    for (const whole of [
      `[${many}]`,
      ` {"a":[${many}],"b":{"c":[[[${many}]]]},"a":1,"x":[],"d":{}} `,
      `{"a":1,"5":2,"a":{"z":0,"5":[${many}],"z":{"y":[${many}]}}}`,
      `{"b":{${members(20_000, '"some text"')},"m1":"again","m2":[${many}]}}`,
      `[{"__proto__":{"__proto__":[${many}],${members(20_000, '{}')},"__proto__":[1]}}]`,
      `{"":{"":{${members(9_000, filler(60))}},"\\u0000":[${many}]}}`,
      text,
      `[[[${filler()}]]]`,
      `${' '.repeat(LONG)}null`,
    ])
      await readAlike(whole, { max_depth: 40 })
  })

  it('is refused in the same words, at the same place', async () => {
    for (const odd of [
      `[${filler()},]`,
      `[,${filler()}]`,
      `[${filler()},,1]`,
      `{"a":${filler()},}`,
      `{"a":${filler()},"b"}`,
      `{"a":${filler()},"b":\n\n nul}`,
      `{"a":${filler()}\n,"é😀":1 "b":2}`,
      `{"a":${filler()}`,
      `{"a":${filler()}]`,
      `[${filler()}}, ${filler()}]`,
      `[${filler()}],${filler()}`,
      `[${filler()},"no end`,
      `[${filler()},"\n"]`,
      `[${filler()},"\\x"]`,
      `[${filler()},[[[[[[[[[[[1]]]]]]]]]]]]`,
      `[${filler()},${'9'.repeat(1_001)}]`,
      `[${'9'.repeat(1_001)},${filler()},]`,
      `{"a":1,"b":${filler()},"\\u0061":2}`,
      `{${Array.from({ length: 1_001 }, (_, n) => `"m${n}":${filler(300)}`)}}`,
      `\ufeff${filler()}`,
      ' '.repeat(LONG),
      `${filler()}x`,
    ])
      await readAlike(odd, { max_depth: 10, unique: true })
    const noText = Buffer.concat([Buffer.from(filler()), Buffer.from([0xff])])
    await assert.rejects(readJsonChunked(noText, { max_depth: 10 }), /not valid UTF-8/)
  })

  it('is as good or bad as when it is read at once, however it is damaged', async () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.string({ unit: 'binary' }),
        fc.maxSafeInteger(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'a')), tie('value')),
      ),
    })).value
    const damage = fc.option(
      fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.constantFrom(...',[]{}":0\\ \n') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 5 }), damage, fc.boolean(), async (values, hurt, inObject) => {
        const one = JSON.stringify(values)
        const parts = Array.from({ length: Math.ceil(LONG / one.length) }, () => one).join(',')
        const whole = inObject ? `{"list":[${parts}],"more":[1]}` : `[${parts}]`
        const at = Math.floor((hurt?.at ?? 0) * whole.length)
        await readAlike(hurt === null ? whole : whole.slice(0, at) + hurt.byte + whole.slice(at + 1))
      }),
      SEED,
    )
  })

  it('lets others have their turn after each chunk, and short ones are read without', async () => {
    let now = 0
    const pace = new Pace(() => (now += 5))
    let rests = 0
    const { rest } = pace
    pace.rest = () => {
      rests++
      return rest.call(pace)
    }
    await readJsonChunked(Buffer.from(filler(2_000_000)), { max_depth: 2 }, pace)
    // of 64 KiB each, examined and parsed
    assert.ok(rests >= 60, String(rests))
    rests = 0
    await readJsonChunked(Buffer.from(filler(200_000)), { max_depth: 2 }, pace)
    assert.equal(rests, 0)
  })
})
