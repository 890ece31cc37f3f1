import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { redactor } from '../../core/redact.ts'
import { Secrets } from '../../core/secrets.ts'
import { lookAlikes } from './redact/look-alikes.ts'
import { alnum, hex, join } from './redact/random.ts'
import { secrets } from './redact/secrets.ts'

const redact = redactor()

describe('redaction of the sample sets', () => {
  for (const [kind, samples] of Object.entries(secrets)) {
    it(`hides each of ${samples.length} secrets of kind ${kind}`, () => {
      assert.ok(samples.length >= 10)
      for (const { text, secret } of samples) {
        const result = redact.text(text)
        assert.ok(!result.includes(secret), `${text} -> ${result}`)
        assert.match(result, /\[REDACTED:[a-z-]+\]/)
        assert.equal(redact.text(result), result)
      }
    })
    it(`leaves alone what looks like kind ${kind}`, () => {
      const others = lookAlikes[kind] ?? []
      assert.ok(others.length >= 10)
      for (const text of others) assert.equal(redact.text(text), text)
    })
  }
  it('names the kind of what it hid', () => {
    const unlike: string[] = []
    for (const kind of ['key', 'private-key', 'token', 'card', 'iban', 'email']) {
      for (const { text } of secrets[kind] ?? [])
        if (!redact.text(text).includes(`[REDACTED:${kind}]`)) unlike.push(`${kind}: ${text}`)
    }
    assert.deepEqual(unlike, [])
  })
})

const key = join('ghp_', alnum(36))
const hidden = '[REDACTED:name]'

describe('names and values in data', () => {
  it('hides every text below a sensitive name, and numbers below a password name only', () => {
    assert.deepEqual(
      redact.value({ credentials: { user: 'ada', list: ['x', 7, true] }, token: 5, password: 5, pwd: 7n, otp: null }),
      {
        credentials: { user: hidden, list: [hidden, 7, true] },
        token: 5,
        password: hidden,
        pwd: hidden,
        otp: null,
      },
    )
  })
  it('knows sensitive names in any spelling, and others beside them', () => {
    for (const name of [
      'dbPassword',
      'DB_PASSWORD',
      'x-api-key',
      'apikey',
      'APIKey',
      'client.secret',
      'refreshToken',
      'Set-Cookie',
      'PGPASSWORD',
      'password2',
      'aws_secret_access_key',
      'connectionString',
      'pass\u200bword',
    ]) {
      assert.deepEqual(redact.value({ [name]: 'x' }), { [name]: hidden }, name)
    }
    for (const name of [
      'input_tokens',
      'token_type',
      'token_count',
      'public_key',
      'cache_key',
      'primary_key',
      'idempotency_key',
      'key',
      'passwordless',
      'secretary',
      'tokenizer',
    ]) {
      const value = { [name]: 'x' }
      assert.equal(redact.value(value), value, name)
    }
  })
  it('reads pairs of a name and a value', () => {
    assert.deepEqual(
      redact.value([
        { key: 'api_key', value: { stringValue: 'x' } },
        { Name: 'Authorization', Value: 'x' },
        { header: 'cookie', values: ['a'] },
      ]),
      [
        { key: 'api_key', value: { stringValue: hidden } },
        { Name: 'Authorization', Value: hidden },
        { header: 'cookie', values: [hidden] },
      ],
    )
    assert.deepEqual(
      redact.value([
        ['password', 'x'],
        ['user', 'y'],
      ]),
      [
        ['password', hidden],
        ['user', 'y'],
      ],
    )
  })
  it('reads header arrays and argument lists, and leaves lists of names alone', () => {
    assert.deepEqual(redact.value(['Host', 'a:1', 'Authorization', 'opaque', 'Accept', '*/*']), [
      'Host',
      'a:1',
      'Authorization',
      hidden,
      'Accept',
      '*/*',
    ])
    assert.deepEqual(redact.value(['run', '--token', 'abc', '--password=x', '--verbose']), [
      'run',
      '--token',
      hidden,
      `--password=${hidden}`,
      '--verbose',
    ])
    const names = { required: ['password', 'email'], order: ['user', 'password', 'token', 'name'] }
    assert.equal(redact.value(names), names)
  })
  it('redacts names that are secrets themselves and tells equal ones apart', () => {
    const value = { [key]: 1, [join('ghp_', alnum(36))]: 2 }
    assert.deepEqual(redact.value(value), { '[REDACTED:key]': 1, '[REDACTED:key]#2': 2 })
  })
  it('does not take the kind of a mark for a name', () => {
    const value = { '[REDACTED:token]': 'x', '[REDACTED:token]#2': 'y' }
    assert.equal(redact.value(value), value)
    const text = '[REDACTED:token]: plain99'
    assert.equal(redact.text(text), text)
  })
  it('keeps own members named __proto__, prototypes, and parts that did not change', () => {
    const clean = { deep: [1, 2] }
    const value = JSON.parse(`{"__proto__": {"password": "x"}, "a": 1}`)
    const result = redact.value({ value, clean })
    assert.equal(result.clean, clean)
    assert.deepEqual(Object.keys(result.value), ['__proto__', 'a'])
    assert.equal(JSON.stringify(result.value), `{"__proto__":{"password":"${hidden}"},"a":1}`)
    assert.equal(Object.getPrototypeOf(redact.value(Object.assign(Object.create(null), { token: 'x' }))), null)
    assert.equal(Object.hasOwn(Object.prototype, 'password'), false)
  })
  it('looks into maps, errors, addresses and private JSON Web Keys', () => {
    assert.deepEqual(redact.value(new Map([['password', 'x']])), { password: hidden })
    assert.equal(redact.value(new Error(`failed with ${key}`)).message, 'failed with [REDACTED:key]')
    assert.equal(redact.value<unknown>(new URL('http://a:secret1@host/')), 'http://a:[REDACTED:url]@host/')
    assert.deepEqual(redact.value({ kty: 'EC', x: 'pub', d: 'priv' }), { kty: 'EC', x: 'pub', d: hidden })
    const date = new Date(0)
    assert.equal(redact.value(date), date)
  })
})

describe('JSON inside texts', () => {
  it('is rewritten only where something was found, with every digit and the indentation', () => {
    const clean = '{ "n": 12345678901234567890,  "a": 1.50 }'
    assert.equal(redact.text(clean), clean)
    assert.equal(
      redact.text('{"n":12345678901234567890,"credentials":{"pin":"1"}}'),
      `{"n":12345678901234567890,"credentials":{"pin":"${hidden}"}}`,
    )
    assert.equal(redact.text('{\n  "token": "x"\n}'), `{\n  "token": "${hidden}"\n}`)
  })
  it('hides the first of two equal members as well', () => {
    assert.ok(!redact.text('{"password":"first-one","password":"second-one"}').includes('first-one'))
  })
})

describe('limits and faults', () => {
  it('hides what is deeper than 64 levels', () => {
    const deep = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 'x')
    assert.deepEqual(redact.value(deep(64)), deep(64))
    assert.ok(JSON.stringify(redact.value(deep(65))).includes('[REDACTED:limit]'))
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    assert.ok(JSON.stringify(redact.value(cyclic)).includes('[REDACTED:limit]'))
  })
  it('hides what is beyond 50,000 nodes or 1 MiB of text', () => {
    const many = redact.value(Array.from({ length: 50_010 }, () => 'a'))
    assert.deepEqual([many[0], many[50_009]], ['a', '[REDACTED:limit]'])
    assert.deepEqual(
      redact.value(['a '.repeat(300_000), 'b '.repeat(300_000)]).map((text) => text.slice(0, 16)),
      ['a a a a a a a a ', '[REDACTED:limit]'],
    )
    assert.equal(redact.text('a '.repeat(600_000)), '[REDACTED:limit]')
  })
  it('hides and reports the part whose rule throws', () => {
    const faults: unknown[] = []
    const failing = redactor({
      finders: [
        (text) => {
          if (text.includes('boom')) throw new Error('rule')
          return undefined
        },
      ],
      fault: (error) => faults.push(error),
    })
    assert.deepEqual(failing.value({ a: 'boom', b: 'fine' }), { a: '[REDACTED:fault]', b: 'fine' })
    assert.equal(failing.text('boom'), '[REDACTED:fault]')
    assert.equal(failing.looksSecret('boom'), true)
    assert.equal(faults.length, 3)
    const trap = {
      get a(): string {
        throw new Error('getter')
      },
    }
    assert.equal(failing.value<unknown>(trap), '[REDACTED:fault]')
  })
  it('survives a finder that finds nothing, backwards or without end', () => {
    for (const finder of [() => [3, 3] as const, () => [0, 0] as const, () => [5, 2] as const])
      assert.equal(redactor({ finders: [finder] }).text('plain text'), 'plain text')
  })
})

describe('options', () => {
  it('takes further names by their last words', () => {
    const own = redactor({ names: ['badge number', 'pin'] })
    assert.deepEqual(own.value({ staffBadgeNumber: 'x', PIN: 'y', pinned: 'z' }), {
      staffBadgeNumber: hidden,
      PIN: hidden,
      pinned: 'z',
    })
    assert.equal(own.text('pin=1234x'), `pin=${hidden}`)
  })
  it('keeps mail addresses when told so', () => {
    assert.equal(redactor({ emails: false }).text('a@example.com'), 'a@example.com')
  })
  it('asks finders also about texts it knows as clean, and about decoded ones', () => {
    const known = new Secrets()
    const own = redactor({ finders: [known.find] })
    const secret = 'tangerine-sunrise'
    assert.equal(own.text(`is ${secret}`), `is ${secret}`)
    known.add(secret)
    assert.equal(own.text(`is ${secret}`), 'is [REDACTED:configured]')
    assert.equal(own.text(`x=${encodeURIComponent(JSON.stringify({ a: secret }))}`).includes('tangerine'), false)
  })
})

describe('looksSecret', () => {
  it('refuses keys and tokens as identifiers, and allows mail addresses, hashes and UUIDs', () => {
    assert.equal(redact.looksSecret(key), true)
    assert.equal(redact.looksSecret(`run-${key}`), true)
    for (const id of [
      'ada@example.com',
      hex(64),
      'f47ac10b-58cc-4372-a567-0e02b2c3d479',
      'my-project',
      'ses_7ndkq5xk2vbq4z6w3mzt5rjh2a',
      '1732180132000123456',
    ]) {
      assert.equal(redact.looksSecret(id), false, id)
    }
  })
})

describe('the module alone', () => {
  it('imports nothing but its own files, and neither does text', () => {
    const folder = new URL('../../core/', import.meta.url)
    const own = readdirSync(new URL('redact/', folder)).map((file) => `redact/${file}`)
    for (const file of ['redact.ts', 'text.ts', ...own]) {
      for (const [, from = ''] of readFileSync(new URL(file, folder), 'utf8').matchAll(/from '([^']+)'/g)) {
        assert.match(from, file === 'redact.ts' ? /^\.\/redact\/[\w-]+\.ts$/ : /^\.\/[\w-]+\.ts$/, file)
      }
    }
  })
})
