import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import type { RedactionScope } from '../../../core/contracts/services.ts'
import type { Fragment, SpanDraft } from '../../../core/fragment.ts'
import { Gateway } from '../../../core/gateway.ts'
import { redaction } from '../../../plugins/redaction/index.ts'
import { SeenValues } from '../../../plugins/redaction/seen.ts'
import { characters, numbers } from './redact/shapes.ts'

const random = numbers(11)
const secret = (): string => `a7${characters(random, 'alnum', 20)}`

const service = () => new Gateway().use(redaction()).service('redaction').need()
const inSession = () => {
  const { within } = service()
  return (text: string) => within({ session_id: 's' }, (redact) => redact.text(text))
}
const fragment = (run: Fragment['run'], ...names: readonly string[]): Fragment => ({
  owner: 'client',
  origin: 'api',
  run,
  spans: names.map((name, at): SpanDraft => ({ id: `s${at}`, name })),
  events: [],
  artifacts: [],
})

describe('what was hidden once', () => {
  it('is hidden in all texts of the fragment, earlier ones too', async () => {
    const value = secret()
    const { fragment: kept } = await service().fragment(
      fragment({ trace_id: 't' }, `tried ${value}`, `password: ${value}`, `then ${value}`),
    )
    assert.ok(!JSON.stringify(kept.spans).includes(value))
  })
  it('is hidden in later fragments of the run, and in previews of its session, and nowhere else', async () => {
    const value = secret()
    const { fragment: clean, within, redactor } = service()
    await clean(fragment({ trace_id: 't', session_id: 's' }, `API_TOKEN=${value}`))
    const later = await clean(fragment({ trace_id: 't' }, `curl -d ${value}`))
    assert.equal(later.fragment.spans[0]?.name, 'curl -d [REDACTED:name]')
    const text = (scope: RedactionScope) => within(scope, (redact) => redact.text(`got ${value}.`))
    assert.equal(await text({ session_id: 's' }), 'got [REDACTED:name].')
    assert.deepEqual(await within({ session_id: 's' }, (redact) => redact.value({ log: [value] })), {
      log: ['[REDACTED:name]'],
    })
    for (const scope of [{ session_id: 'other' }, { session_id: 't' }, { trace_id: 's' }, {}])
      assert.equal(await text(scope), `got ${value}.`)
    assert.equal(redactor.text(`got ${value}.`), `got ${value}.`)
    const other = await clean(fragment({ trace_id: 'u' }, `got ${value}.`))
    assert.equal(other.fragment.spans[0]?.name, `got ${value}.`)
  })
  it('is hidden though the text was clean before', async () => {
    const value = secret()
    const text = inSession()
    assert.equal(await text(`it is ${value}`), `it is ${value}`)
    await text(`token=${value}`)
    assert.equal(await text(`it is ${value}`), 'it is [REDACTED:name]')
  })
  it('is hidden earlier in the same work', async () => {
    const value = secret()
    const texts = [`it is ${value}`, `token=${value}`]
    const done = await service().within({ session_id: 's' }, ({ text }) => texts.map(text))
    assert.deepEqual(done, ['it is [REDACTED:name]', 'token=[REDACTED:name]'])
  })
  it('is no common word, number or short text', async () => {
    const text = inSession()
    await text('password=Tangerine\npassword=123456789012\npassword=hunter22\npassword=correct-horse-battery')
    for (const known of ['Tangerine', '123456789012', 'hunter22', 'correct-horse-battery'])
      assert.equal(await text(`about ${known} again`), `about ${known} again`)
  })
  it('is hidden in no other project, though run and session are called the same', async () => {
    const value = secret()
    const { fragment: clean, within } = service()
    const run = { trace_id: 't', session_id: 's' }
    await clean(fragment({ ...run, project_id: 'alpha' }, `API_TOKEN=${value}`))
    for (const other of [{ project_id: 'bravo' }, { default_project_id: 'bravo' }, {}]) {
      const kept = await clean(fragment({ ...run, ...other }, `got ${value}.`))
      assert.equal(kept.fragment.spans[0]?.name, `got ${value}.`)
      assert.equal(await within({ ...run, ...other }, ({ text }) => text(value)), value)
    }
    const same = await clean(fragment({ ...run, default_project_id: 'alpha' }, `got ${value}.`))
    assert.equal(same.fragment.spans[0]?.name, 'got [REDACTED:name].')
  })
})

describe('what is known of sessions', () => {
  it('is bounded, the oldest forgotten first', () => {
    const seen = new SeenValues()
    const values = Array.from({ length: 300 }, secret)
    for (const value of values) seen.of({ session_id: 's' }).add(value)
    const found = values.filter((value) => seen.of({ session_id: 's' }).find(value).length > 0)
    assert.deepEqual(found, values.slice(-128))
    for (let at = 0; at < 600; at++) seen.of({ session_id: `s${at}` }).add(values[0] ?? '')
    assert.deepEqual(seen.of({ session_id: 's' }).find(values.at(-1) ?? ''), [])
  })
  it('is forgotten a day after the last was seen', () => {
    mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    try {
      const seen = new SeenValues()
      const value = secret()
      seen.of({ session_id: 's' }).add(value)
      mock.timers.tick(23 * 3_600_000)
      assert.equal(seen.of({ session_id: 's' }).find(`x ${value}`).length, 1)
      mock.timers.tick(2 * 3_600_000)
      assert.equal(seen.of({ session_id: 's' }).find(`x ${value}`).length, 0)
    } finally {
      mock.timers.reset()
    }
  })
  it('costs nothing where nothing was seen, and grows with the text alone', () => {
    const seen = new SeenValues()
    const text = 'a1B2c3D4e5F6g7 '.repeat(20_000)
    assert.deepEqual(seen.of({ session_id: 's' }).find(text), [])
    seen.of({ session_id: 's' }).add(secret())
    assert.deepEqual(seen.of({ session_id: 's' }).find('a1'.repeat(500_000)), [])
  })
})
