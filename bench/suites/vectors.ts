import type { Session } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { callOf, NOON } from '../kit.ts'
import { type BenchOptions, isChosen } from '../options.ts'
import { type Judge, openJudge } from '../quality/judge.ts'
import type { Observation, RunFacts } from '../quality/observation.ts'
import { noWaste } from '../quality/savings.ts'
import { sessionAt } from '../quality/session.ts'
import { findSubjects, type Subjects } from '../quality/subjects.ts'
import { type RequestStep, shippedVectors, type VectorCase } from '../quality/vectors.ts'

const SECOND = 1000
const styles = { chat_completions: chatCompletions, messages, responses }

/** Sends every shipped case through the decision of the gateway, with a fake clock. */
export const runVectors = async (facts: RunFacts, options: BenchOptions): Promise<readonly Observation[]> => {
  const cases = (await shippedVectors()).filter(({ id }) => isChosen(options, id))
  const defaults = await findSubjects({ detectors: [], presets: ['default'] }, process.cwd())
  const observations: Observation[] = []
  for (const one of cases) observations.push(observationOf(one, await failureOf(one, defaults), facts))
  return observations
}

/** The difference from the expectation. Null if there is none. */
export const failureOf = async (one: VectorCase, { detectors, subjects }: Subjects): Promise<string | null> => {
  const judge = await openJudge(detectors, one.rules ?? subjects.flatMap(({ rules }) => rules))
  try {
    const session = sessionAt(`vector ${one.id}`, NOON)
    let at = NOON
    for (const [index, step] of one.steps.entries()) {
      at = 'body' in step && step.at_ms !== undefined ? NOON + step.at_ms : at + SECOND
      if (!('body' in step)) alter(session, 'pause' in step, at)
      else {
        const failure = await stepFailure(one, step, judge, session, at)
        if (failure !== null) return `step ${index + 1}: ${failure}`
      }
    }
    return null
  } finally {
    await judge.gateway.close()
  }
}

const alter = (session: Session, pause: boolean, at: number): void => {
  session.row.paused = pause
  if (pause) return
  session.row.seen_tips = session.tips?.() ?? []
  session.row.resumed_at = at
  session.cleared?.()
}

const stepFailure = async (
  { style, mode }: VectorCase,
  { body, headers, retry, reply, expect }: RequestStep,
  judge: Judge,
  session: Session,
  at: number,
): Promise<string | null> => {
  const made = callOf(styles[style], Buffer.from(JSON.stringify(body)), session.row.id, at, judge.reader)
  const call = { ...made, mode, session, headers: { ...made.headers, ...headers }, retry_mark: retry === true }
  session.open++
  const decision = await judge.decide(call)
  await judge.settle(call, decision, {
    tokens: reply?.usage?.total_tokens ?? 0,
    ...(reply?.calls === undefined ? {} : { calls: reply.calls }),
    ...(reply?.response_id === undefined ? {} : { response_id: reply.response_id }),
    ...(reply?.error === undefined ? {} : { fails: { status: reply.status, ...reply.error } }),
  })
  session.open--
  if (decision.decision === expect.decision && decision.reason === (expect.reason ?? null)) return null
  return `wanted ${formatDecision(expect)}, got ${formatDecision(decision)}`
}

const formatDecision = ({ decision, reason }: { readonly decision: string; readonly reason?: string | null }): string =>
  [decision, reason ?? []].flat().join(' ')

const observationOf = (one: VectorCase, failure: string | null, facts: RunFacts): Observation => {
  const last = one.steps.findLast((step) => 'body' in step)
  const requests_total = one.steps.filter((step) => 'body' in step).length
  return {
    ...facts,
    detector: {
      id: one.rules === undefined ? 'default' : 'rules of the case',
      kind: 'rules',
      version: '1',
      rule_type: null,
      params: null,
    },
    suite: 'vectors',
    case_id: one.id,
    collection: null,
    source: null,
    task: null,
    split: null,
    style: one.style,
    tier: one.tier,
    kind: null,
    label: null,
    expected: { decision: last?.expect.decision ?? null, reason: last?.expect.reason ?? null, step: requests_total },
    loop_start_step: null,
    resolved: null,
    decision: failure === null ? (last?.expect.decision ?? 'allow') : 'allow',
    reason: failure === null ? (last?.expect.reason ?? null) : null,
    rule_id: null,
    matches: 0,
    first_detection_step: null,
    lag_steps: null,
    outcome: failure === null ? 'pass' : 'fail',
    false_positive: false,
    false_negative: false,
    harmful_block: false,
    requests_total,
    requests_after: 0,
    steps_saved: 0,
    tokens_total: 0,
    tokens_saved: 0,
    tokens_estimated: false,
    cost_saved_micro: null,
    ...noWaste,
    latency_ns: null,
    ops_per_second: null,
    body_bytes_p50: null,
    state_bytes: null,
    error: failure,
  }
}
