import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import type { ReceiverHealth } from '../../../plugins/notify/delivery.ts'
import { rested, startNotify } from './kit.ts'

interface Health {
  readonly status: string
  readonly error?: { readonly message: string }
  readonly receivers: readonly ReceiverHealth[]
}
const healthOf = (gateway: Gateway): Health => gateway.health.get('notify')?.() as Health
const countsOf = (gateway: Gateway) => {
  const [one] = healthOf(gateway).receivers
  return [one?.delivered, one?.dropped, one?.failed, one?.queued]
}
const busy = { outcome: 'retryable', error: 'It answered 500.' } as const
const gone = { outcome: 'rejected', error: 'It answered 404: no_service.' } as const

describe('a message to a receiver', () => {
  it('is sent once, with the page, behind the back of whoever told of it', async (test) => {
    const { tell, kept, gateway } = await startNotify(test)
    tell()
    assert.equal(kept.sent.length, 0)
    await rested()
    const [first] = kept.sent
    assert.ok(first)
    const { id, at, ...rest } = first
    assert.match(id, /^ntf_\w+$/)
    assert.equal(at, Date.UTC(2026, 0, 1))
    assert.deepEqual(rest, {
      event: 'blocked',
      subject: 'ses_1',
      text: 'A request was blocked.',
      path: '/sessions/ses_1',
      project_id: 'shop',
      url: 'https://guard.example/sessions/ses_1',
      count: 1,
    })
    assert.deepEqual(countsOf(gateway), [1, 0, 0, 0])
  })

  it('is tried again with growing pauses, under the same id, until it is delivered', async (test) => {
    const { tell, kept, gateway, pass, faults } = await startNotify(test)
    kept.results.push(busy, new Error('socket'), busy)
    tell()
    await rested()
    assert.equal(kept.sent.length, 1)
    await pass(999)
    assert.equal(kept.sent.length, 1)
    await pass(1)
    assert.equal(kept.sent.length, 2)
    await pass(2_000)
    assert.equal(kept.sent.length, 3)
    assert.equal(healthOf(gateway).status, 'failing')
    await pass(3_999)
    assert.equal(kept.sent.length, 3)
    await pass(1)
    assert.equal(new Set(kept.sent.map(({ id }) => id)).size, 1)
    assert.equal(kept.sent.length, 4)
    assert.deepEqual(countsOf(gateway), [1, 0, 0, 0])
    assert.equal(healthOf(gateway).status, 'ok')
    assert.deepEqual(faults, ['notify: "team" was not notified. kept of the test: It answered 500.'])
  })

  it('waits as long as the receiver asks', async (test) => {
    const { tell, kept, pass } = await startNotify(test)
    kept.results.push({ ...busy, wait_ms: 30_000 })
    tell()
    await rested()
    await pass(29_999)
    assert.equal(kept.sent.length, 1)
    await pass(1)
    assert.equal(kept.sent.length, 2)
  })

  it('is given up and counted where it is refused, and the next is sent', async (test) => {
    const { tell, kept, gateway } = await startNotify(test)
    kept.results.push(gone)
    tell()
    await rested()
    assert.deepEqual(countsOf(gateway), [0, 0, 1, 0])
    const { status, error } = healthOf(gateway)
    assert.equal(status, 'failing')
    assert.equal(
      error?.message,
      '"team" is not reached, 1 message is lost: kept of the test: It answered 404: no_service.',
    )
    tell({ subject: 'ses_2' })
    await rested()
    assert.deepEqual(countsOf(gateway), [1, 0, 1, 0])
    assert.equal(healthOf(gateway).status, 'ok')
  })

  it('is dropped and counted after an hour', async (test) => {
    const { tell, kept, gateway, pass } = await startNotify(test)
    kept.results.push(...Array(100).fill(busy))
    tell()
    await rested()
    for (let minute = 0; minute < 66; minute++) await pass(60_000)
    assert.deepEqual(countsOf(gateway), [0, 1, 0, 0])
    assert.ok(kept.sent.length < 30, String(kept.sent.length))
  })

  it('does not wait for ever for a notifier that hangs', async (test) => {
    const { tell, kept, gateway, pass } = await startNotify(test)
    kept.results.push(new Promise(() => {}))
    tell()
    await rested()
    await pass(15_000)
    assert.match(healthOf(gateway).receivers[0]?.last_error?.message ?? '', /It took longer than 15 s/)
    await pass(1_000)
    assert.deepEqual(countsOf(gateway), [1, 0, 0, 0])
  })

  it('makes room for newer ones where too many wait, which is counted', async (test) => {
    const rules = Array.from({ length: 13 }, (_, one) => ({ events: [`event_${one}`] }))
    const { tell, kept, gateway } = await startNotify(test, { rules })
    kept.results.push(new Promise(() => {}))
    for (let one = 0; one < 250; one++) tell({ event: `event_${one % 13}`, subject: `ses_${one}` })
    await rested()
    await rested()
    assert.deepEqual(countsOf(gateway), [0, 50, 0, 200])
    assert.equal(kept.sent.length, 1)
  })

  it('shows no secret of a receiver that repeats it', async (test) => {
    const { tell, kept, gateway, faults } = await startNotify(test)
    gateway.secrets.add('hidden-hook-token')
    kept.results.push({ outcome: 'rejected', error: 'No hook hidden-hook-token\u001b[31m\nhere.' })
    tell()
    await rested()
    const text = JSON.stringify([healthOf(gateway), faults])
    assert.doesNotMatch(text, /hidden-hook-token|\\u001b|\\n/)
    assert.match(text, /No hook \[REDACTED/)
  })

  it('is sent at an orderly end', async (test) => {
    const { tell, kept, gateway } = await startNotify(test)
    tell()
    tell()
    await gateway.close()
    assert.deepEqual(
      kept.sent.map(({ count }) => count),
      [1, 1],
    )
  })
})
