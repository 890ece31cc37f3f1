import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { redactor } from '../../../plugins/redaction/redact.ts'
import { lookAlikes } from './redact/look-alikes.ts'
import { alnum, join } from './redact/random.ts'
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
