import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Attributes, FailureTag } from 'guard-gateway/core'
import type { TraceEvent, TraceSpan } from '#lib/trace'
import {
  type BestTag,
  bestTag,
  evidenceOfEvent,
  evidenceOfSpan,
  noTags,
  withEvidence,
} from '../../../plugins/replay/failures/tags.ts'
import { anEvent, aSpan } from '../../kit/traces.ts'

/** The records of a run. Its status is `error` by default. */
export type Signs = {
  spans?: Partial<TraceSpan>[]
  events?: Partial<TraceEvent>[]
  status?: string
  attributes?: Attributes
}

/** The tag of such a run, with its evidence. */
export const best = ({ spans = [], events = [], status = 'error', attributes = {} }: Signs): BestTag | null => {
  const records = [
    ...spans.map((span) => evidenceOfSpan(aSpan(span))),
    ...events.map((event) => evidenceOfEvent(anEvent(event))),
  ]
  return bestTag(records.reduce(withEvidence, noTags), { status, attributes })
}
export const tagOf = (signs: Signs): FailureTag | undefined => best(signs)?.tag

/** A run with one span. */
export const span = (over: Partial<TraceSpan>): Signs => ({ spans: [{ name: 'step', ...over }] })
/** A run with one event. */
export const event = (name: string, attributes: Attributes = {}): Signs => ({ events: [{ name, attributes }] })
/** A run with one policy decision. */
export const decision = (attributes: Attributes): Signs => event('policy.decision', attributes)
/** A run with one span that has one attribute. */
export const attribute = (key: string, value: unknown): Signs => span({ attributes: { [key]: value } })

type Cases = Readonly<Record<string, Signs>>
/** Registers one test per case. */
export const allAre = (tag: FailureTag | undefined, cases: Cases): void => {
  for (const [what, signs] of Object.entries(cases)) it(what, () => assert.equal(tagOf(signs), tag))
}
