import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'
import { characters, numbers } from './shapes.ts'

const redact = redactor()
const hidden = '[REDACTED:name]'
const random = characters(numbers(7), 'alnum', 40)
const digest = characters(numbers(8), 'hex', 64)
const phrase = 'abandon ability able about above absent absorb abstract absurd abuse access zoo'

describe('names that stand for secrets and for other things', () => {
  it('hides what looks like a secret under them, in data and in text', () => {
    for (const name of [
      'auth',
      'bearer',
      'session',
      'sig',
      'signature',
      'sas',
      'seed',
      'mnemonic',
      'hmac',
      'proxy_auth',
    ]) {
      for (const value of [random, digest]) {
        assert.deepEqual(redact.value({ [name]: value }), { [name]: hidden }, name)
        assert.equal(redact.text(`${name}=${value}`), `${name}=${hidden}`)
      }
    }
    assert.deepEqual(redact.value({ seed: phrase, pin: '4821', pass: 'hunter2' }), {
      seed: hidden,
      pin: hidden,
      pass: hidden,
    })
    assert.equal(redact.text(`mnemonic: ${phrase}\n`), `mnemonic: ${hidden}\n`)
  })
  it('keeps identifiers, words, counts and what lies deeper', () => {
    const value = {
      auth: { type: 'bearer', required: 'yes' },
      bearer: true,
      session: 'ses_7ndkq5xk2vbq4z6w3mzt5rjh2a',
      sess: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
      signature: 'login(user: string): Promise<Session>',
      seed: 42,
      pin: 13,
      pass: 'ok',
      tokens: ['the', 'cat'],
      sig: 'SIGTERM',
      render_pass: 'shadow',
      pwd: '/home/dev/project',
      trace_id: '4009956296007089217',
    }
    assert.equal(redact.value(value), value)
    const text = JSON.stringify(value)
    assert.equal(redact.text(text), text)
  })
  it('hides every value under the names of keys', () => {
    for (const name of [
      'license_key',
      'masterKey',
      'service-key',
      'Ocp-Apim-Subscription-Key',
      'x-functions-key',
      'webhook_url',
      'passcode',
      'db_pass',
    ])
      assert.deepEqual(redact.value({ [name]: 'anything' }), { [name]: hidden }, name)
  })
  it('hides a password that begins like a path, and a path no password is', () => {
    assert.deepEqual(redact.value({ pwd: 'hunter2', OLDPWD: 'C:\\work' }), { pwd: hidden, OLDPWD: 'C:\\work' })
    assert.equal(redact.text('pwd: /srv/app\npwd=hunter2x\n'), `pwd: /srv/app\npwd=${hidden}\n`)
  })
})

describe('a schema', () => {
  it('keeps what it says of a secret, and hides the values it holds', () => {
    const of = (more: object): unknown => ({
      type: 'object',
      properties: { password: { type: 'string', minLength: 8, ...more } },
    })
    const clean = of({ description: 'At least 8 characters.', pattern: '^.{8,}$' })
    assert.equal(redact.value(clean), clean)
    assert.deepEqual(
      redact.value(of({ default: 'hunter2', examples: ['s3cret'] })),
      of({ default: hidden, examples: [hidden] }),
    )
    assert.deepEqual(redact.value({ password: { type: 'string', value: 'hunter2' } }), {
      password: { type: 'string', value: hidden },
    })
  })
})

describe('identifiers', () => {
  it('are no card numbers where they are digits alone or have a prefix', () => {
    for (const id of ['4009956296007089217', 'tr_4111111111111111', 'span-4111111111111111', '4111111111111111'])
      assert.equal(redact.judgeId(id), 'plain', id)
    assert.equal(redact.judgeId('4111 1111 1111 1111'), 'suspect')
    assert.equal(redact.judgeId(`shpat_${characters(numbers(9), 'hex', 32)}`), 'secret')
  })
})
