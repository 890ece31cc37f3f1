import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allAre, attribute, decision, event, span, tagOf } from '../failure-cases.ts'

describe('failure tag loop', () => {
  allAre('loop', {
    'a block for a loop': decision({ decision: 'block', reason_code: 'LOOP_EXACT' }),
    'a loop that was flagged and let through': decision({
      decision: 'shadow_flag',
      reason_code: 'LOOP_TOOL_CALL',
      forwarded: true,
    }),
    'a block whose code is called a reason': decision({ decision: 'blocked', reason: 'LOOP_EXACT' }),
    'an event with the word': event('agent.loop'),
    'an event with the word in humps': event('LoopFound'),
    'a span named so': span({ name: 'loop.detected' }),
    'an attribute that ends so and is true': attribute('agent.in_loop', true),
    'an attribute with a count': attribute('loopDetected', 2),
    'an attribute that says yes': attribute('loop_detected', ' Yes '),
    'an attribute of the run': { attributes: { loop: 'detected' } },
    'a reason with the word': attribute('error.type', 'infinite-loop'),
    'the reason of a flagged request': span({
      attributes: { 'guard.decision': 'shadow_flag', 'guard.reason': 'LOOP_EXACT' },
    }),
    'a blocked loop rather than its block': span({
      status: 'blocked',
      attributes: { 'guard.decision': 'block', 'guard.reason': 'LOOP_EXACT' },
    }),
  })
  allAre(undefined, {
    'not a flag for another reason': decision({ decision: 'shadow_flag', reason_code: 'LIMIT_REQUESTS' }),
    'not an allowed call, whatever its reason': decision({ decision: 'allow', reason_code: 'LOOP_EXACT' }),
    'not loopback': event('loopback.opened'),
    'not the event loop': event('event_loop.lag'),
    'not the event loop as an attribute': attribute('event.loop', true),
    'not a span with the word alone': span({ name: 'for loop' }),
    'not an attribute that says no': attribute('loop', false),
    'not a count of 0': attribute('loop', 0),
    'not prose': attribute('message', 'stuck in a loop'),
  })
})

describe('failure tag timeout', () => {
  allAre('timeout', {
    'a span that timed out': span({ status: 'timeout' }),
    'a span that timed out in two words': span({ status: 'timed_out' }),
    'a run that timed out': { status: 'timeout' },
    'an event': event('request.timeout'),
    'an event in two words': event('TimedOut'),
    'a reason': attribute('exception.type', 'APITimeoutError'),
    'a system error': attribute('error.code', 'ETIMEDOUT'),
    'a deadline': attribute('error.type', 'DEADLINE_EXCEEDED'),
    'status code 408': attribute('http.response.status_code', 408),
    'status code 504, by its old name': attribute('http.status_code', '504'),
    'an attribute that ends so': attribute('tool.timed_out', true),
    'a flag named timeout': attribute('tool.timeout', true),
  })
  allAre(undefined, {
    'not a setting': attribute('timeout', 30),
    'not a setting in words': attribute('timeout', 'true'),
    'not an attribute that says no': attribute('timed_out', false),
    'not status code 500': attribute('http.response.status_code', 500),
    'not a list around a code': attribute('http.status_code', [504]),
    'not an object that cannot be a number': attribute('http.status_code', Object.create(null)),
    'not a span named so': span({ name: 'set timeout' }),
  })
})

describe('failure tag rate_limit', () => {
  allAre('rate_limit', {
    'a decision': decision({ decision: 'rate_limit' }),
    'a decision in the past tense': decision({ decision: 'rate_limited' }),
    'the action behind a refusal': decision({ decision: 'deny', action: 'rate_limit', forwarded: false }),
    'a status': span({ status: 'rate_limited' }),
    'an event': event('RateLimit.hit'),
    'an event in one word': event('provider.ratelimit'),
    'a reason': attribute('error.type', 'RateLimitError'),
    'another reason': attribute('reason', 'Too Many Requests'),
    'status code 429': attribute('http.response.status_code', 429),
  })
  allAre(undefined, {
    'not a decision after which it was forwarded': decision({ decision: 'rate_limit', forwarded: true }),
    'not a limit that allowed': decision({ decision: 'allow', action: 'rate_limit' }),
    'not what a shadow rule would have done': decision({
      decision: 'shadow_deny',
      action: 'rate_limit',
      reason_code: 'RATE_LIMIT',
    }),
    'not moderate limits': event('rate.of.limit'),
  })
  it('excludes a 429 of the gateway itself', () => {
    assert.equal(
      tagOf(span({ attributes: { 'http.response.status_code': 429, 'error.type': 'guard_block' } })),
      undefined,
    )
    const blocked = { 'http.response.status_code': 429, 'guard.decision': 'block', 'guard.reason': 'LIMIT_REQUESTS' }
    assert.equal(tagOf(span({ attributes: blocked })), 'policy_block')
  })
})

describe('failure tag policy_block', () => {
  allAre('policy_block', {
    'a block for a limit': decision({ decision: 'block', reason_code: 'LIMIT_TOKENS' }),
    'a pause': decision({ decision: 'block', reason_code: 'PAUSED_SESSION', forwarded: false }),
    'a denied tool call': decision({ decision: 'deny' }),
    'a block in the past tense': decision({ decision: 'blocked' }),
    'a denial in the past tense': decision({ decision: 'denied' }),
    'an action alone': decision({ action: 'block' }),
    'a span that was blocked': span({ attributes: { 'guard.decision': 'block', 'guard.reason': 'PAUSED_AGENT' } }),
    'a span with that status': span({ status: 'blocked' }),
    'a run with that status': { status: 'blocked' },
    'an event': event('policy.blocked'),
    'an event that denies': event('PolicyDenied'),
    'an event that blocks': event('on policy block'),
  })
  allAre(undefined, {
    'not an action alone in shadow': decision({ action: 'deny', mode: 'shadow' }),
    'not an action beside what was decided': decision({ decision: 'shadow_flag', action: 'block' }),
    'not a block after which it was forwarded': decision({
      decision: 'block',
      reason_code: 'LIMIT_TOKENS',
      forwarded: true,
    }),
    'not a span that was forwarded': span({ attributes: { 'guard.decision': 'deny', 'guard.forwarded': true } }),
    'not allow': decision({ decision: 'allow' }),
    'not confirm': decision({ decision: 'confirm' }),
    'not transform': decision({ decision: 'transform' }),
    'not shadow_deny': decision({ decision: 'shadow_deny' }),
    'not a shadow span': span({ attributes: { 'guard.decision': 'shadow_deny', 'guard.reason': 'RATE_LIMIT' } }),
    'not another policy event': event('policy.loaded'),
  })
})
