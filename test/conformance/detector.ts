import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Detector, Evidence, Finding } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { evidence } from '../kit/evidence.ts'

/** What every detector promises. `fires` is evidence that it must speak on. */
export const detectorConforms = <P extends TSchema>(detector: Detector<P>, fires: Evidence<Static<P>>): void => {
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
      assert.deepEqual(spoken(detector, freeze(fires)), first)
    })
  })
}

const spoken = <P extends TSchema>(detector: Detector<P>, shown: Evidence<Static<P>>): Finding => {
  const found = detector.detect(shown)
  assert.ok(found !== undefined, 'is silent on the evidence given')
  return typeof found === 'string' ? { message: found, evidence: 'session' } : found
}

const freeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
  return value
}
