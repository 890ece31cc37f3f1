import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { redactor } from '../../../../plugins/redaction/redact.ts'
import { SecretFinder } from '../../../../plugins/redaction/secrets.ts'
import { character } from '../../../kit/character.ts'
import { lookAlikes } from './look-alikes.ts'
import { alnum, join, url64 } from './random.ts'
import { secrets } from './secrets.ts'

const SEED = { seed: 20261121, numRuns: 300 }
const redact = redactor()

/** Secrets that are recognised wherever they stand. */
const canaries = [
  join('ghp_', alnum(36)),
  join('sk-ant-', 'api03-', alnum(90)),
  join('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.', url64(43)),
  join('gak_', url64(43)),
]
const configured = 'correct-horse-7-battery'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const escaped = (text: string): string =>
  Array.from(text, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Ways to write a text so that it can be read back, each with the way back. */
const encodings: readonly (readonly [name: string, write: (text: string) => string])[] = [
  ['plain', (text) => text],
  ['base64', base64],
  ['base64url', (text) => Buffer.from(text).toString('base64url')],
  ['percent', percent],
  ['\\u escapes', escaped],
  ['decimal entities', (text) => Array.from(text, (sign) => `&#${sign.charCodeAt(0)};`).join('')],
  ['hex entities', (text) => Array.from(text, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`).join('')],
  ['zero width joiners', (text) => Array.from(text).join('\u200d')],
  ['soft hyphens', (text) => `${text.slice(0, 3)}\u00ad${text.slice(3)}`],
  ['JSON', (text) => JSON.stringify({ note: text })],
]
const containers: readonly (readonly [name: string, write: (text: string) => unknown])[] = [
  ['a text', (text) => text],
  ['a sentence', (text) => `it said ${text} and went on`],
  ['an address', (text) => `https://example.com/a?b=${text}&c=1`],
  ['an assignment', (text) => `KEY=${text}\nNEXT=1`],
  ['lines', (text) => `a\n${text}\r\nb`],
  ['quotes', (text) => `say('${text}')`],
  ['a member', (text) => ({ a: [{ b: text }] })],
  ['a name', (text) => ({ [text]: 1 })],
  ['JSON', (text) => JSON.stringify({ a: { b: [text, 1] } })],
  ['JSON in JSON', (text) => JSON.stringify({ a: JSON.stringify({ b: text }) })],
  ['pretty JSON', (text) => JSON.stringify({ a: text }, null, 2)],
  ['broken JSON', (text) => `{"a": ${JSON.stringify(text)}, "b": `],
]

/** Ways back from an encoding, each over a whole text. */
const decoders: readonly ((text: string) => string)[] = [
  (text) => text.replace(/[A-Za-z0-9+/_-]{20,}/g, (run) => Buffer.from(run, 'base64').toString('latin1')),
  (text) => text.replace(/[A-Za-z0-9+/_-]{20,}/g, (run) => Buffer.from(run, 'base64').toString()),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString()),
  (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_all, code) => String.fromCharCode(Number.parseInt(code, 16))),
  (text) => text.replace(/&#x([0-9a-f]+);/gi, (_all, code) => String.fromCharCode(Number.parseInt(code, 16))),
  (text) => text.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code))),
  (text) => text.replace(/[\u200d\u00ad]/g, ''),
  (text) => text.replaceAll('\\\\', '\\').replaceAll('\\"', '"').replaceAll('\\n', '\n'),
]

/** The texts and names of a value. */
const textsOf = (part: unknown): readonly string[] => {
  if (typeof part === 'string') return [part]
  return typeof part === 'object' && part !== null ? Object.entries(part).flat().flatMap(textsOf) : []
}

/** Searches every text of the value and every text it can be decoded to, trusting nothing of the redactor. */
const reveals = (input: unknown, secret: string): boolean => {
  let forms = new Set(textsOf(input))
  for (let level = 0; level < 5; level++) {
    if ([...forms].some((form) => form.includes(secret))) return true
    forms = new Set(
      [...forms].flatMap((form) => decoders.map((decode) => decode(form)).filter((text) => text !== form)),
    )
  }
  return false
}

/** Every pair of encodings, one around the other. */
const doubled = encodings.flatMap(([outer, write]) =>
  encodings.map(([inner, rewrite]) => [`${inner} in ${outer}`, (text: string) => write(rewrite(text))] as const),
)

describe('a planted secret is in no form of the output', () => {
  const holds = redactor({ finders: [planted().find] })
  const check = (secret: string, input: unknown, how: string): void => {
    assert.ok(reveals(input, secret), `the search does not see ${how}: ${JSON.stringify(input)}`)
    const output = holds.value(input)
    assert.ok(!reveals(output, secret), `${how}: ${JSON.stringify(output)}`)
  }
  for (const [container, wrap] of containers) {
    it(`in ${container}, encoded up to twice`, () => {
      for (const secret of [...canaries, configured]) {
        for (const [how, write] of doubled) check(secret, wrap(write(secret)), how)
      }
    })
  }
})

function planted(): SecretFinder {
  const known = new SecretFinder()
  known.add(configured)
  return known
}

/** Values as they come from JSON and programs, with names and texts that tempt. */
const temptingText = fc.oneof(
  fc.string(),
  fc.string({ unit: character }),
  fc.constantFrom(...Object.values(secrets).flatMap((samples) => samples.map(({ text }) => text))),
  fc.constantFrom(...Object.values(lookAlikes).flat()),
  fc
    .array(
      fc.constantFrom(
        'password',
        '=',
        ':',
        '"',
        "'",
        '\\',
        '{',
        '}',
        '[',
        ']',
        '%3D',
        '&quot;',
        '[REDACTED:key]',
        'Bearer ',
        'a1b2c3d4e5',
        '\n',
        ' ',
        '<',
        '>',
        '-',
        '--token ',
        '@',
        'x.com',
        '://',
        ',',
        ';',
      ),
    )
    .map((words) => words.join('')),
)
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    temptingText,
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }),
  object: fc.dictionary(
    fc.oneof(temptingText, fc.constantFrom('password', 'token', 'name', 'value', 'key', 'a', '__proto__')),
    tie('value'),
    { maxKeys: 5 },
  ),
})).value

/** What a value is made of, texts and numbers aside. */
const shape = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(shape)
  return typeof part === 'object' && part !== null ? Object.values(part).map(shape) : 0
}

describe('redaction of any value', () => {
  it('is total and idempotent, and keeps the shape', () => {
    fc.assert(
      fc.property(value, (input) => {
        const before = fc.stringify(input)
        const once = redact.value(input)
        assert.equal(fc.stringify(input), before)
        assert.deepEqual(shape(once), shape(input))
        assert.equal(redact.value(once), once)
      }),
      SEED,
    )
  })
  it('is idempotent on any text', () => {
    fc.assert(
      fc.property(fc.array(temptingText, { maxLength: 4 }), (parts) => {
        const once = redact.text(parts.join(' '))
        assert.equal(redact.text(once), once)
      }),
      { ...SEED, numRuns: 1_500 },
    )
  })
  it('never takes a look-alike for a secret, whatever plain words stand around it', () => {
    const words = fc.constantFrom('', 'see ', 'the run ', '(', 'ok\n')
    fc.assert(
      fc.property(
        fc.constantFrom(...(lookAlikes.key ?? []), ...(lookAlikes.card ?? []).filter((text) => !text.startsWith('+'))),
        words,
        (text, before) => {
          assert.equal(redact.text(before + text), before + text)
        },
      ),
      SEED,
    )
  })
})

describe('the scanner is linear', () => {
  const pieces = [
    'token:',
    'cookie: ',
    'password="',
    'password: is ',
    join('-----BEGIN RSA ', 'PRIVATE KEY-----"'),
    'http://',
    '//u:/',
    'x@',
    '%25',
    '\\',
    '&amp;',
    'eyJa.',
    '<password>',
    '--token ',
    'Bearer ',
    '4 ',
    '1234-',
    'xoxb-1-',
    'aGVs/',
    '\u200b',
    '{"a":',
    'ghp_',
    'name: token ',
  ]
  for (const piece of pieces) {
    it(`over ${JSON.stringify(piece)}, again and again`, () => {
      const text = piece.repeat(Math.ceil(128_000 / piece.length))
      const start = process.cpuUsage().user
      redact.text(text)
      // A linear scan takes a tenth of a second, a quadratic one ten and more.
      assert.ok(process.cpuUsage().user - start < 4_000_000)
    })
  }
})
