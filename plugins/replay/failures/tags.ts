import { type Attributes, type FailureTag, failureTags } from 'guard-gateway/core'
import type { FailureEvidence } from '#lib/trace'
import { indicatorsOf, integerOf, readName, type Subject } from './indicators.ts'

/** Evidence, and the start of its record in nanoseconds since 1970. */
interface DatedEvidence {
  readonly at_ns: bigint
  readonly because: FailureEvidence
}

/** The failure evidence of a run so far: the earliest evidence per tag, and the last test result. Plain data for a JSON column. */
export interface TagState {
  readonly evidence: Readonly<Partial<Record<FailureTag, DatedEvidence>>>
  readonly last_test?: DatedEvidence & { readonly failed: boolean }
}

/** The state of a run without records. */
export const noTags: TagState = Object.freeze({ evidence: Object.freeze({}) })

/** The examined fields of a span. A stored span has them. */
export interface SpanFacts {
  readonly id: string
  readonly name: string
  readonly label: string | null
  readonly status: string
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  readonly attributes: Attributes
}

/** The examined fields of an event. A stored event has them. */
export interface EventFacts {
  readonly id: string
  readonly span_id: string | null
  readonly name: string
  readonly time_ns: bigint
  readonly attributes: Attributes
}

/** The examined fields of a run. */
export interface RunFacts {
  readonly status: string
  readonly attributes: Attributes
}

const evidenceOf = (
  subject: TestSubject,
  began: bigint,
  ended: bigint,
  ids: Pick<FailureEvidence, 'span_id' | 'event_id'>,
): TagState | undefined => {
  let evidence: Partial<Record<FailureTag, DatedEvidence>> | undefined
  for (const [tag, rule, field] of indicatorsOf(subject)) {
    evidence ??= {}
    evidence[tag] ??= { at_ns: began, because: { rule, ...ids, field } }
  }
  const test = testOutcome(subject)
  if (test === undefined) return evidence === undefined ? undefined : { evidence }
  const because = { rule: 'test', ...ids, field: test.field }
  if (test.failed) evidence = { ...evidence, test_failure: { at_ns: began, because } }
  return { evidence: evidence ?? {}, last_test: { at_ns: ended, because, failed: test.failed } }
}

/** The failure evidence of a span. Undefined for nearly all spans. */
export const evidenceOfSpan = (span: SpanFacts): TagState | undefined =>
  evidenceOf(
    {
      type: 'span',
      name: span.name,
      label: span.label,
      status: span.status,
      ended: span.end_ns !== null,
      attributes: span.attributes,
    },
    span.start_ns,
    span.end_ns ?? span.start_ns,
    { span_id: span.id, event_id: null },
  )

/** The failure evidence of an event. */
export const evidenceOfEvent = (event: EventFacts): TagState | undefined =>
  evidenceOf(
    { type: 'event', name: event.name, label: null, status: '', ended: true, attributes: event.attributes },
    event.time_ns,
    event.time_ns,
    { span_id: event.span_id, event_id: event.id },
  )

/** Adds the evidence of one more record. Records come in any order. At equal times the first added evidence stays. */
export const withEvidence = (state: TagState, record: TagState | undefined): TagState => {
  if (record === undefined) return state
  const evidence: Partial<Record<FailureTag, DatedEvidence>> = { ...state.evidence }
  for (const tag of failureTags) {
    const [known, more] = [state.evidence[tag], record.evidence[tag]]
    if (more !== undefined && (known === undefined || more.at_ns < known.at_ns)) evidence[tag] = more
  }
  const last_test = later(state.last_test, record.last_test)
  return last_test === undefined ? { evidence } : { evidence, last_test }
}

type LastTest = TagState['last_test']

/** The later test result. At equal times a failed result takes precedence. */
const later = (known: LastTest, more: LastTest): LastTest => {
  if (known === undefined || more === undefined) return known ?? more
  if (more.at_ns > known.at_ns) return more
  return more.at_ns < known.at_ns || known.failed ? known : more
}

/** The tag of a run without an explicit tag. */
export interface BestTag {
  readonly tag: FailureTag
  readonly evidence: FailureEvidence
}

/** The first tag, in the order of `failureTags`, with evidence from a record or from the run itself. Null without evidence. */
export const bestTag = (state: TagState, run: RunFacts): BestTag | null => {
  const own = runEvidence(run)
  for (const tag of failureTags) {
    const because =
      tag === 'test_failure' ? testFailure(state, run, own) : (state.evidence[tag]?.because ?? own.get(tag))
    if (because !== undefined) return { tag, evidence: because }
  }
  return null
}

const runSubject = ({ status, attributes }: RunFacts): Subject => ({ type: 'run', name: '', status, attributes })

const aboutRun = (rule: string, field: string): FailureEvidence => ({ rule, span_id: null, event_id: null, field })

const runEvidence = (run: RunFacts): ReadonlyMap<FailureTag, FailureEvidence> => {
  const evidence = new Map<FailureTag, FailureEvidence>()
  for (const [tag, rule, field] of indicatorsOf(runSubject(run))) {
    if (!evidence.has(tag)) evidence.set(tag, aboutRun(rule, field))
  }
  const test: TestOutcome | undefined = testOutcome({
    ...runSubject(run),
    label: null,
    ended: run.status !== 'running',
  })
  if (test?.failed) evidence.set('test_failure', aboutRun('test', test.field))
  return evidence
}

/** In a successful run only the last test counts, because a fixed test failure is normal work. */
const testFailure = (
  { evidence, last_test }: TagState,
  run: RunFacts,
  own: ReadonlyMap<FailureTag, FailureEvidence>,
): FailureEvidence | undefined => {
  if (run.status !== 'ok') return evidence.test_failure?.because ?? own.get('test_failure')
  return last_test?.failed ? last_test.because : own.get('test_failure')
}

/** The result of a test record, and the field that shows it. */
interface TestOutcome {
  readonly failed: boolean
  readonly field: string
}

interface TestSubject extends Subject {
  readonly label: string | null
  readonly ended: boolean
}

const commandFields = ['process.command', 'process.command_line', 'command']
const exitFields = ['exit_code', 'process.exit.code']

/** The result of a test. Undefined if the record is no test, or shows no result. */
const testOutcome = (subject: TestSubject): TestOutcome | undefined => {
  if (!isTest(subject)) return
  const failure = failureField(subject)
  if (failure !== undefined) return { failed: true, field: failure }
  const success = successField(subject)
  return success === undefined ? undefined : { failed: false, field: success }
}

const saysTest = (text: unknown): boolean => typeof text === 'string' && readName(text).test

const isTest = ({ type, name, label, attributes }: TestSubject): boolean => {
  if (type !== 'run' && (saysTest(name) || saysTest(label))) return true
  if (type !== 'run' && commandFields.some((field) => saysTest(attributes[field]))) return true
  for (const key in attributes) if (key.startsWith('test.') || key.startsWith('tests.')) return true
  return false
}

const exitCode = (attributes: Attributes): readonly [field: string, code: number] | undefined => {
  for (const field of exitFields) {
    const code = integerOf(attributes[field])
    if (code !== undefined) return [`attributes.${field}`, code]
  }
  return
}

const namesEnd = ({ type, name }: TestSubject, end: 'failed' | 'passed'): boolean => {
  if (type === 'run') return false
  const parsed = readName(name)
  return parsed.test && parsed[end]
}

const failureField = (subject: TestSubject): string | undefined => {
  const { status, attributes } = subject
  if (status === 'error') return 'status'
  const exit = exitCode(attributes)
  if (exit !== undefined && exit[1] !== 0) return exit[0]
  if (attributes['test.case.result.status'] === 'fail') return 'attributes.test.case.result.status'
  if (attributes['test.suite.run.status'] === 'failure') return 'attributes.test.suite.run.status'
  if ((integerOf(attributes['tests.failed']) ?? 0) > 0) return 'attributes.tests.failed'
  return namesEnd(subject, 'failed') ? 'name' : undefined
}

const successField = (subject: TestSubject): string | undefined => {
  const { type, status, ended, attributes } = subject
  const exit = exitCode(attributes)
  if (exit !== undefined) return exit[0]
  if (attributes['test.case.result.status'] === 'pass') return 'attributes.test.case.result.status'
  if (attributes['test.suite.run.status'] === 'success') return 'attributes.test.suite.run.status'
  if (integerOf(attributes['tests.failed']) === 0) return 'attributes.tests.failed'
  if (namesEnd(subject, 'passed')) return 'name'
  return type === 'span' && status === 'ok' && ended ? 'status' : undefined
}
