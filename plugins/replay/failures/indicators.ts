import type { Attributes, FailureTag } from 'guard-gateway/core'

const LETTERS = /[\p{L}\p{N}]+/gu
const HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

/** The words of a name in lower case, split at camel case and at all characters except letters and digits. */
const wordsOf = (name: string): readonly string[] =>
  (name.replace(HUMPS, ' ').match(LETTERS) ?? []).map((word) => word.toLowerCase())

const standsAt = (words: readonly string[], phrase: readonly string[], at: number): boolean =>
  phrase.every((word, index) => words[at + index] === word) && !(phrase[0] === 'loop' && words[at - 1] === 'event')

/** True if the words contain one of the phrases. `event loop` is a runtime term and no loop. */
const holds = (words: readonly string[], phrases: readonly (readonly string[])[]): boolean =>
  phrases.some((phrase) => words.some((_, at) => standsAt(words, phrase, at)))

/** True if the words end with one of the phrases. */
const endsIn = (words: readonly string[], phrases: readonly (readonly string[])[]): boolean =>
  phrases.some((phrase) => phrase.length <= words.length && standsAt(words, phrase, words.length - phrase.length))

const phrases = (...texts: readonly string[]): readonly (readonly string[])[] => texts.map((text) => text.split(' '))

const LOOP = phrases('loop')
const LOOP_DETECTED = phrases('loop detected')
const TIMED_OUT = phrases('timed out')
const TIMEOUT = phrases('timeout')
const TIMEOUTS = phrases('timeout', 'timed out')
const TIMEOUT_REASONS = phrases('timeout', 'timed out', 'etimedout', 'deadline exceeded')
const RATE_LIMITS = phrases('rate limit', 'rate limited', 'ratelimit', 'too many requests')
const POLICY_BLOCKS = phrases('policy block', 'policy blocked', 'policy denied')
const TESTS = phrases('test', 'tests', 'pytest', 'unittest', 'jest', 'vitest', 'mocha', 'junit', 'rspec')
const FAILED = phrases('failed', 'failure', 'error')
const PASSED = phrases('passed', 'pass', 'success', 'succeeded')

const MAX_REMEMBERED = 4_096
const MAX_LENGTH = 256

/** Computes once per name. The cache is bounded, because names come from clients. */
const memoized = <T extends object>(compute: (name: string) => T): ((name: string) => T) => {
  const known = new Map<string, T>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const value = compute(name)
    if (name.length <= MAX_LENGTH) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.set(name, value)
    }
    return value
  }
}

/** The examined fields of a span, an event or the run itself. */
export interface Subject {
  readonly type: 'span' | 'event' | 'run'
  /** Empty for a run, because its name is prose. */
  readonly name: string
  /** Empty for an event. */
  readonly status: string
  readonly attributes: Attributes
}

/** A failure tag, the rule that yields it, and the field with the evidence. */
export type Indicator = readonly [tag: FailureTag, rule: string, field: string]

/** The phrases in a name or status. Memoized. */
export const readName = memoized((name) => {
  const words = wordsOf(name)
  return {
    loop: holds(words, LOOP),
    loopDetected: holds(words, LOOP_DETECTED),
    timeout: holds(words, TIMEOUTS),
    rateLimit: holds(words, RATE_LIMITS),
    policyBlock: holds(words, POLICY_BLOCKS),
    test: holds(words, TESTS),
    failed: holds(words, FAILED),
    passed: holds(words, PASSED),
  }
})

const readKey = memoized((key) => {
  const words = wordsOf(key)
  return {
    loop: endsIn(words, LOOP) || endsIn(words, LOOP_DETECTED),
    timedOut: endsIn(words, TIMED_OUT),
    timeout: endsIn(words, TIMEOUT),
  }
})

const reasonFields = [
  'error.type',
  'error.code',
  'exception.type',
  'reason',
  'reason_code',
  'failure.reason',
  'guard.reason',
]
const statusCodeFields = ['http.response.status_code', 'http.status_code']

/** Every tag that the record is evidence for. */
export function* indicatorsOf(subject: Subject): Generator<Indicator> {
  const { type, name, status, attributes } = subject
  if (type === 'event' && name === 'policy.decision') return yield* decisionIndicators(attributes)
  if (type === 'event') yield* eventNameIndicators(name)
  if (type === 'span' && readName(name).loopDetected) yield ['loop', 'span_name', 'name']
  if (status !== '') yield* statusIndicators(status)
  yield* attributeIndicators(attributes)
  yield* reasonIndicators(attributes)
  yield* statusCodeIndicators(attributes)
  if (
    type === 'span' &&
    isRefused(attributes['guard.decision'], attributes['guard.reason'], attributes['guard.forwarded'])
  )
    yield ['policy_block', 'decision', 'attributes.guard.decision']
}

const isLoopCode = (code: unknown): boolean => typeof code === 'string' && code.startsWith('LOOP_')

/** Refused by a policy and not forwarded, for a reason other than a loop. */
const isRefused = (decision: unknown, code: unknown, forwarded: unknown): boolean =>
  refusals.has(decision) && forwarded !== true && !isLoopCode(code)

const refusals: ReadonlySet<unknown> = new Set(['block', 'blocked', 'deny', 'denied'])
const rateLimits: ReadonlySet<unknown> = new Set(['rate_limit', 'rate_limited'])

/** Decisions that do not change a call, or that would have changed it in enforce mode. */
const quietDecisions: ReadonlySet<unknown> = new Set(['allow', 'confirm', 'transform', 'shadow_deny'])

const isQuiet = (decision: unknown, code: unknown): boolean =>
  quietDecisions.has(decision) || (decision === 'shadow_flag' && !isLoopCode(code))

/**
 * Reads the fields of a decision, not its words. An action without a decision counts as the decision, except in
 * shadow mode. Clients can use `reason` for the code.
 */
function* decisionIndicators(attributes: Attributes): Generator<Indicator> {
  const { action, mode, reason, reason_code = reason, forwarded } = attributes
  const { decision = mode === 'shadow' ? undefined : action } = attributes
  if (isQuiet(decision, reason_code)) return
  const field = decision === attributes.decision ? 'attributes.decision' : 'attributes.action'
  if ((refusals.has(decision) || decision === 'shadow_flag') && isLoopCode(reason_code))
    yield ['loop', 'decision', field]
  if (forwarded !== true && rateLimits.has(decision)) yield ['rate_limit', 'decision', field]
  else if (forwarded !== true && rateLimits.has(action)) yield ['rate_limit', 'decision', 'attributes.action']
  if (isRefused(decision, reason_code, forwarded)) yield ['policy_block', 'decision', field]
}

function* eventNameIndicators(name: string): Generator<Indicator> {
  const { loop, timeout, rateLimit, policyBlock } = readName(name)
  if (loop) yield ['loop', 'event_name', 'name']
  if (timeout) yield ['timeout', 'event_name', 'name']
  if (rateLimit) yield ['rate_limit', 'event_name', 'name']
  if (policyBlock) yield ['policy_block', 'event_name', 'name']
}

function* statusIndicators(status: string): Generator<Indicator> {
  const { timeout, rateLimit } = readName(status)
  if (timeout) yield ['timeout', 'status', 'status']
  if (rateLimit) yield ['rate_limit', 'status', 'status']
  if (status === 'blocked') yield ['policy_block', 'status', 'status']
}

const affirmations = new Set(['true', 'yes', 'detected'])

const isAffirmative = (value: unknown): boolean => {
  if (typeof value === 'string') return affirmations.has(value.trim().toLowerCase())
  return value === true || ((typeof value === 'number' || typeof value === 'bigint') && value > 0)
}

function* attributeIndicators(attributes: Attributes): Generator<Indicator> {
  for (const key in attributes) {
    const { loop, timedOut, timeout } = readKey(key)
    if (loop && isAffirmative(attributes[key])) yield ['loop', 'attribute', `attributes.${key}`]
    if (timedOut && isAffirmative(attributes[key])) yield ['timeout', 'attribute', `attributes.${key}`]
    if (timeout && attributes[key] === true) yield ['timeout', 'attribute', `attributes.${key}`]
  }
}

const readReason = memoized((text) => {
  const words = wordsOf(text)
  return {
    loop: holds(words, LOOP),
    timeout: holds(words, TIMEOUT_REASONS),
    rateLimit: holds(words, RATE_LIMITS),
  }
})

function* reasonIndicators(attributes: Attributes): Generator<Indicator> {
  for (const key of reasonFields) {
    const reason = attributes[key]
    if (typeof reason !== 'string') continue
    if (key === 'guard.reason' && isQuiet(attributes['guard.decision'], reason)) continue
    const { loop, timeout, rateLimit } = readReason(reason)
    if (loop) yield ['loop', 'reason', `attributes.${key}`]
    if (timeout) yield ['timeout', 'reason', `attributes.${key}`]
    if (rateLimit) yield ['rate_limit', 'reason', `attributes.${key}`]
  }
}

const INTEGER = /^-?\d{1,19}$/

/** An integer attribute, also as a string of digits. Undefined for all other values. */
export const integerOf = (value: unknown): number | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && INTEGER.test(value) ? Number(value) : undefined
}

const blockings: ReadonlySet<unknown> = new Set(['block', 'deny', 'rate_limit'])

/** True for a refusal by the gateway, which has a 429 that no provider sent. */
const isOurs = (attributes: Attributes): boolean =>
  blockings.has(attributes['guard.decision']) || attributes['error.type'] === 'guard_block'

function* statusCodeIndicators(attributes: Attributes): Generator<Indicator> {
  for (const key of statusCodeFields) {
    const code = integerOf(attributes[key])
    if (code === 408 || code === 504) yield ['timeout', 'status_code', `attributes.${key}`]
    if (code === 429 && !isOurs(attributes)) yield ['rate_limit', 'status_code', `attributes.${key}`]
  }
}
