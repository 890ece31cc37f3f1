import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { redactor } from '../../../plugins/redaction/redact.ts'
import { SecretFinder } from '../../../plugins/redaction/secrets.ts'
import { alnum, hex, join, url64 } from './redact/random.ts'

const redact = redactor()
const hidden = '[REDACTED:name]'
const key = join('ghp_', alnum(36))

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
    assert.equal(failing.judgeId('boom'), 'suspect')
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
    const known = new SecretFinder()
    const own = redactor({ finders: [known.find] })
    const secret = 'tangerine-sunrise'
    assert.equal(own.text(`is ${secret}`), `is ${secret}`)
    known.add(secret)
    assert.equal(own.text(`is ${secret}`), 'is [REDACTED:configured]')
    assert.equal(own.text(`x=${encodeURIComponent(JSON.stringify({ a: secret }))}`).includes('tangerine'), false)
  })
})

describe('judgeId', () => {
  it('tells what has the form and the check sum of a key from what looks like one', () => {
    // made by GitHub's rule: the last six are the check sum of the thirty before
    const summed = join('ghp_', 'zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ', '0mLq17')
    for (const id of [
      summed,
      `run-${summed}`,
      join('gak_', url64(43)),
      join('sk-ant-', 'api03-', url64(93), 'AA'),
      join('AKIA', 'Q7BHZ2MXW5CTE3NR'),
      join('eyJhbGciOiJIUzI1NiJ9.', 'eyJzdWIiOiIxMjM0NTYifQ.', url64(43)),
      `Bearer ${alnum(40)}`,
    ])
      assert.equal(redact.judgeId(id), 'secret', id)
    for (const id of [
      key,
      `test_${'0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'}`,
      `api-token-${alnum(30)}`,
      'password=hunter2x',
    ])
      assert.equal(redact.judgeId(id), 'suspect', id)
  })
  it('is certain of configured credentials, and hides what a pattern of the user finds', () => {
    const known = new SecretFinder()
    known.add('tangerine-sunrise')
    const own = redactor({ credentials: known.find, finders: [(id) => (id.startsWith('ACME') ? [0, 4] : undefined)] })
    assert.deepEqual([own.judgeId('at-tangerine-sunrise'), own.judgeId('ACME-7')], ['secret', 'suspect'])
  })
  it('allows mail addresses, hashes and UUIDs', () => {
    for (const id of [
      'ada@example.com',
      hex(64),
      'f47ac10b-58cc-4372-a567-0e02b2c3d479',
      'my-project',
      'ses_7ndkq5xk2vbq4z6w3mzt5rjh2a',
      '1732180132000123456',
      // digits alone, with the check digit of a card
      '4354832038200820',
      'evt_3571973607467132',
    ]) {
      assert.equal(redact.judgeId(id), 'plain', id)
    }
  })
})

describe('the module alone', () => {
  it('loads nothing but its own files, and neither does text', () => {
    const redact = new URL('../../../plugins/redaction/redact.ts', import.meta.url)
    const text = new URL('../../../plugins/lib/text.ts', import.meta.url)
    const own = readdirSync(new URL('redact/', redact), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => new URL(`redact/${file.replaceAll('\\', '/')}`, redact))
    for (const file of [redact, text, ...own]) {
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:im|ex)port (?!type)[^']*from '([^']+)'/gm)) {
        const target = new URL(from, file).href
        assert.ok(from.startsWith('.') && target.startsWith(new URL('redact/', redact).href), `${file} loads ${from}`)
      }
    }
  })
})
