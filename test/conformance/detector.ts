import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serialize } from 'node:v8'
import type { Detector, Evidence, Finding } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { conversation, type Item, result, step } from '../kit/conversation.ts'
import { call, evidence, rule } from '../kit/evidence.ts'

/** What every detector promises. `fires` is evidence that it must speak on, or the text of such a reply. */
export const detectorConforms = <P extends TSchema>(
  detector: Detector<P>,
  fires: Evidence<Static<P>> | string,
): void => {
  describe(`${detector.id} as a detector`, () => {
    it('has an id, a code and a version that policies and records can hold', () => {
      assert.match(detector.id, /^[a-z][a-z0-9_]{0,63}$/)
      assert.match(detector.code, /^[A-Z][A-Z0-9_]{0,63}$/)
      assert.match(detector.version, /^\S+$/)
    })
    it('has defaults that its own rule may have', () => {
      const { threshold, window_size, params } = detector.defaults
      assert.ok(Number.isSafeInteger(threshold) && threshold >= 1)
      assert.ok(Number.isSafeInteger(window_size) && window_size >= 0 && window_size <= 1000)
      if (detector.params !== undefined) assert.ok(Check(detector.params, params ?? {}))
      const rule = { id: 'r', rule_type: detector.id, threshold, window_size, action: 'block', enabled: true }
      assert.notEqual(detector.reachable?.(rule), false)
    })
    it('refuses params that it does not know', () => {
      if (detector.params !== undefined) assert.ok(!Check(detector.params, { no_such_param: true }))
    })
    it('says nothing of a session without a past', () => {
      assert.equal(detector.detect(evidence(detector, 'a')), undefined)
    })
    it('speaks in a form that can be recorded', () => {
      const finding = spoken(detector, fires)
      assert.ok(finding.message.length > 0 && finding.message.length <= 200)
      assert.doesNotMatch(finding.message, /[\n\r]/)
      assert.ok((finding.where ?? []).length <= 16)
      assert.deepEqual(JSON.parse(JSON.stringify(finding)), finding)
    })
    it('is pure: it says the same again, and changes nothing that it is shown', () => {
      const first = spoken(detector, fires)
      assert.deepEqual(spoken(detector, typeof fires === 'string' ? fires : freeze(fires)), first)
    })
    if (detector.measure !== undefined) measures(detector)
    if (detector.stream !== undefined) listens(detector, typeof fires === 'string' ? fires : '')
  })
}

const MEASURE_BYTES = 256
const MEMORY_BYTES = 256 * 1024

const measures = <P extends TSchema>(detector: Detector<P>): void => {
  const measure = (items: readonly Item[], memory: Map<string, unknown>, previous: string | null = null): unknown =>
    detector.measure?.(
      call({ conversation: conversation(items), envelope: { previous_response_id: previous } }),
      memory,
    )

  it('measures little, and remembers no more after 10,000 requests than a session may hold', () => {
    const memory = new Map<string, unknown>()
    for (let n = 0; n < 10_000; n++) {
      const text = Array.from({ length: 8 }, (_, line) => `word ${(n * 8 + line).toString(36)} of the result`).join(
        '\n',
      )
      const value = measure([result(`call_${n}`, text)], memory, `reply_${n}`)
      if (n % 500 === 0) assert.ok(Buffer.byteLength(JSON.stringify(value) ?? '') <= MEASURE_BYTES)
    }
    assert.ok(serialize(memory).length <= MEMORY_BYTES, `${serialize(memory).length} bytes`)
  })
  it('rebuilds what it remembers from a body', () => {
    const items: Item[] = []
    const memory = new Map<string, unknown>()
    let grown: unknown
    for (let n = 0; n < 20; n++) {
      items.push(...step('read_file', { n: n % 7 }, `line of ${n % 5}`))
      grown = measure(items, memory)
    }
    assert.deepEqual(measure(items, new Map()), grown)
  })
  it('measures another attempt of a request as the first one', () => {
    const memory = new Map<string, unknown>()
    const items = [...step('read_file', {}, 'a'), ...step('read_file', {}, 'a')]
    const first = measure(items, memory)
    assert.deepEqual(measure(items, memory), first)
  })
}

const listens = <P extends TSchema>(detector: Detector<P>, chant: string): void => {
  it('hears the same however a reply is cut into pieces, and speaks once', () => {
    const whole = detector.stream?.(rule(detector))
    const found = whole?.push(chant)
    assert.ok(found !== undefined)
    assert.equal(found.evidence, 'stream')
    assert.equal(whole?.push(chant), undefined)
    const pieces = detector.stream?.(rule(detector))
    let heard: Finding | undefined
    for (const unit of chant) heard ??= pieces?.push(unit)
    assert.deepEqual(heard, found)
  })
}

const spoken = <P extends TSchema>(detector: Detector<P>, shown: Evidence<Static<P>> | string): Finding => {
  const found = typeof shown === 'string' ? detector.stream?.(rule(detector)).push(shown) : detector.detect(shown)
  assert.ok(found !== undefined, 'is silent on the evidence given: the second argument must make it speak')
  return typeof found === 'string' ? { message: found, evidence: 'session' } : found
}

const freeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
  return value
}
