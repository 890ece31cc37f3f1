import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Attributes, FailureTag } from 'guard-gateway/core'
import type { TraceEvent, TraceSpan } from 'guard-gateway/lib/trace'
import {
  type BestTag,
  bestTag,
  evidenceOfEvent,
  evidenceOfSpan,
  noTags,
  withEvidence,
} from '../../../plugins/replay/failures/tags.ts'
import { anEvent, aSpan } from '../../kit/traces.ts'

/** What a run holds; its status is `error` if nothing else is said. */
export type Signs = {
  spans?: Partial<TraceSpan>[]
  events?: Partial<TraceEvent>[]
  status?: string
  attributes?: Attributes
}

/** The tag that such a run bears, with its evidence. */
export const best = ({ spans = [], events = [], status = 'error', attributes = {} }: Signs): BestTag | null => {
  const records = [
    ...spans.map((span) => evidenceOfSpan(aSpan(span))),
    ...events.map((event) => evidenceOfEvent(anEvent(event))),
  ]
  return bestTag(records.reduce(withEvidence, noTags), { status, attributes })
}
/** The tag alone. */
export const tagOf = (signs: Signs): FailureTag | undefined => best(signs)?.tag

/** A run of one span. */
export const span = (over: Partial<TraceSpan>): Signs => ({ spans: [{ name: 'step', ...over }] })
/** A run of one event. */
export const event = (name: string, attributes: Attributes = {}): Signs => ({ events: [{ name, attributes }] })
/** A run of one policy decision. */
export const decision = (attributes: Attributes): Signs => event('policy.decision', attributes)
/** A run of one span with one attribute. */
export const attribute = (key: string, value: unknown): Signs => span({ attributes: { [key]: value } })

type Cases = Readonly<Record<string, Signs>>
/** One test a case: each bears the tag. */
export const allAre = (tag: FailureTag | undefined, cases: Cases): void => {
  for (const [what, signs] of Object.entries(cases)) it(what, () => assert.equal(tagOf(signs), tag))
}
