import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GuardError } from '../../../../core/errors.ts'
import { tooDeepAt } from '../../../../plugins/lib/json/outline.ts'
import { readJson, readJsonStrict, writeJson } from '../../../../plugins/lib/json/reader.ts'
import { syntaxErrorAt } from '../../../../plugins/lib/json/syntax.ts'

const SEED = { seed: 20261121, numRuns: 1_000 }

describe('exact integers', () => {
  it('survive reading and writing digit for digit', () => {
    for (const text of [
      '12345678901234567890',
      '-9223372036854775808',
      '[9007199254740993,1]',
      '{"a":1732180132000123456,"b":[ ]}'.replace(' ', ''),
    ]) {
      assert.equal(writeJson(readJson(text)), text)
    }
    assert.equal(readJson('9007199254740991'), 9007199254740991)
    assert.equal(readJson('9007199254740993'), 9007199254740993n)
    assert.equal(readJson('1e999'), Number.POSITIVE_INFINITY)
    assert.equal(typeof readJson('12345678901234567.5'), 'number')
  })
  it('round trip in any value', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.bigInt(),
        fc.maxSafeInteger(),
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value'), { noNullPrototype: true }),
      ),
    })).value
    fc.assert(
      fc.property(value, (input) => {
        const text = writeJson(input)
        assert.equal(writeJson(readJson(text)), text)
      }),
      SEED,
    )
  })
  it('writes null for what has no JSON form, and keeps a member named __proto__', () => {
    assert.equal(writeJson(undefined), 'null')
    assert.equal(
      writeJson(readJson('{"__proto__":{"a":12345678901234567890}}')),
      '{"__proto__":{"a":12345678901234567890}}',
    )
  })
})

/** The depth as a recursive reader sees it. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe('depth', () => {
  it('agrees with a recursive count on any JSON', () => {
    const json = fc.json({ maxDepth: 6, stringUnit: fc.constantFrom('a', '"', '\\', '[', '{', '}', ']', 'é') })
    fc.assert(
      fc.property(json, fc.nat(6), (text, limit) => {
        assert.equal(tooDeepAt(Buffer.from(text), limit) !== -1, depthOf(JSON.parse(text)) > limit)
      }),
      SEED,
    )
  })
  it('counts a million brackets and a string without end without harm', () => {
    assert.equal(tooDeepAt(Buffer.from('['.repeat(1_000_000)), 512), 512)
    assert.equal(tooDeepAt(Buffer.from(`["${'\\"['.repeat(1_000)}`), 1), -1)
  })
})

const refusal = (
  text: string | Buffer,
  options: Parameters<typeof readJsonStrict>[1] = { max_depth: 8 },
): GuardError => {
  try {
    readJsonStrict(Buffer.from(text as string), options)
  } catch (error) {
    assert.ok(error instanceof GuardError)
    return error
  }
  return assert.fail('accepted')
}

describe('strict reading', () => {
  it('accepts JSON and keeps exact integers', () => {
    assert.deepEqual(
      readJsonStrict(Buffer.from(' {"a":[12345678901234567890,"é"]} '), { max_depth: 2, unique: true }),
      { a: [12345678901234567890n, 'é'] },
    )
  })
  it('refuses text that is not UTF-8, and a byte order mark', () => {
    assert.match(refusal(Buffer.from([0x22, 0xff, 0x22])).message, /UTF-8/)
    assert.match(refusal('\ufeff{}').message, /byte order mark/)
  })
  it('refuses what is too deep and says where', () => {
    const { code, place, message } = refusal('{"é":\n[[1]]}', { max_depth: 2, code: 'INVALID_BODY' })
    assert.deepEqual([code, place.line, place.column], ['INVALID_BODY', 2, 2])
    assert.match(message, /deeper than 2 levels/)
    assert.equal(refusal('['.repeat(100_000)).code, 'INVALID_JSON')
  })
  it('names line, column and what was wanted, and nothing of the text', () => {
    const { code, place, message } = refusal('{\n  "password": "hunter2" "x": 1}')
    assert.deepEqual([code, place.line, place.column], ['INVALID_JSON', 2, 25])
    assert.match(message, /expected "," or "}"/)
    assert.doesNotMatch(message, /hunter2/)
    assert.match(refusal('[1,').message, /expected a value, but the text ends/)
    assert.match(refusal('').message, /Line 1, column 1/)
    assert.match(refusal('"a').message, /end of the string/)
  })
  it('refuses a duplicate member at the top level only, however it is written', () => {
    const options = { max_depth: 8, unique: true }
    assert.match(refusal('{"a":1,\n"\\u0061":2}', options).message, /appears twice .* line 2, column 1/)
    assert.match(refusal('{"__proto__":1,"__proto__":2}', options).message, /appears twice .* column 16/)
    for (const once of ['{"__proto__":{"a":1},"a":{"a":2},"b":["a"]}', '["a","a"]', '{"2":1,"1":[{"1":1,"2":2}]}'])
      assert.deepEqual(readJsonStrict(Buffer.from(once), options), JSON.parse(once))
    for (const text of [
      '{"a":{"b":1,"b":2}}',
      '["a","a"]',
      '{"a":"a","b":["b","b"]}',
      ' \n[{"a":1,"a":1}]',
      '"a"',
      '{"a":["x"],"x":{"a":1}}',
    ]) {
      assert.deepEqual(readJsonStrict(Buffer.from(text), options), JSON.parse(text))
    }
    assert.doesNotThrow(() => readJsonStrict(Buffer.from('{"a":1,"a":2}'), { max_depth: 8 }))
  })
})

describe('the place of a syntax error', () => {
  it('takes every escape JSON has and no other', () => {
    for (const sequence of ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u00e9'])
      assert.equal(syntaxErrorAt(`"a${sequence}b"`), undefined)
    for (const sequence of ['\\x', '\\u12', '\\uzzzz', '\\']) assert.equal(syntaxErrorAt(`"a${sequence} b`)?.at, 2)
  })
  it('is found exactly when JSON.parse refuses', () => {
    const sign = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '\\u00e9',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'null',
      ' ',
      '\n',
      '\t',
      'x',
      '\u0001',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(sign, { maxLength: 12 }).map((signs) => signs.join('')),
          fc.json(),
        ),
        (text) => {
          let accepted = true
          try {
            JSON.parse(text)
          } catch {
            accepted = false
          }
          assert.equal(syntaxErrorAt(text) === undefined, accepted, text)
        },
      ),
      { ...SEED, numRuns: 5_000 },
    )
  })
})

describe('text that would take long to read', () => {
  const refused = (text: string, unique: boolean): GuardError => {
    try {
      readJsonStrict(Buffer.from(text), { max_depth: 8, unique })
    } catch (error) {
      if (error instanceof GuardError) return error
      throw error
    }
    throw new Error('it was taken')
  }
  it('an integer of a million digits is refused with its place, one of a thousand is kept', () => {
    for (const sign of ['', '-']) {
      const { code, place, message } = refused(`{"b":[\n1,${sign}${'9'.repeat(1_000_000)}]}`, false)
      assert.equal(code, 'INVALID_JSON')
      assert.deepEqual([place.line, place.column], [2, 3])
      assert.ok(message.length < 200, message)
    }
    const kept = '9'.repeat(1_000)
    assert.equal(readJsonStrict(Buffer.from(kept), { max_depth: 8 }), BigInt(kept))
    assert.equal(readJsonStrict(Buffer.from(`"${'9'.repeat(2_000)}"`), { max_depth: 8 }), '9'.repeat(2_000))
  })
  it('an object of more than a thousand members is refused before it is read', () => {
    const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join()}}`
    assert.equal(refused(object(1_001), true).place.line, 1)
    assert.match(refused(`${object(90_000)} no JSON`, true).message, /more than 1000 members/)
    assert.equal(
      Object.keys(readJsonStrict(Buffer.from(object(1_000)), { max_depth: 8, unique: true }) as object).length,
      1_000,
    )
    assert.equal(Object.keys(readJsonStrict(Buffer.from(object(1_001)), { max_depth: 8 }) as object).length, 1_001)
  })
})
