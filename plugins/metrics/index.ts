import type { FastifySchema } from 'fastify'
import { type Attempt, type Clock, type Gateway, type Plugin, type Settled, stages } from 'guard-gateway/core'
import { jsonObjectOf, Type } from '#lib/json'
import { guidePageKind } from '#lib/page'
import { parserProcess } from '#lib/parser-process'
import { LabelValues, partMetrics } from './parts.ts'
import { type Buckets, Counter, exposition, gauge, Histogram, type Metric } from './samples.ts'
import { upstreamMetrics } from './upstreams.ts'

/** Counts what happens and tells it at `GET /metrics` in the text form of Prometheus: no session, agent, key or content. */
export const metrics = (): Plugin => ({
  name: 'metrics',
  requires: ['http'],
  apply(gateway: Gateway) {
    const all = [
      ...callMetrics(gateway),
      ...partMetrics(gateway),
      ...upstreamMetrics(gateway),
      ...processMetrics(gateway),
      ...webSocketMetrics(gateway),
    ]
    gateway.registry(guidePageKind).add({
      id: 'metric-names',
      title: 'Metrics by name',
      text: () =>
        `What \`GET /metrics\` tells. A metric that has counted nothing is left out there.\n\n| Metric | Type | Meaning |\n| --- | --- | --- |\n${all.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`).join('\n')}`,
    })
    gateway.hooks.http.tap('metrics', (app) => {
      app.get('/metrics', { schema: described }, (_request, reply) =>
        reply.type('text/plain; version=0.0.4; charset=utf-8').send(exposition(all)),
      )
    })
  },
})

const described: FastifySchema & { readonly summary: string; readonly tags: readonly string[] } = {
  summary: 'Metrics in the text form of Prometheus',
  tags: ['health'],
  response: { 200: { description: 'Version 0.0.4.', content: { 'text/plain': { schema: Type.String() } } } },
}

/** How many WebSockets are open, and what became of the handshakes that were refused. */
const webSocketMetrics = (gateway: Gateway): readonly Metric[] => {
  const section = () => jsonObjectOf(gateway.health.get('websockets')?.())
  return [
    gauge('guard_websockets_open', 'Open WebSockets of clients.', [], () => {
      const { connections } = section()
      return typeof connections === 'number' ? [[[], connections]] : []
    }),
    gauge(
      'guard_websockets_refused_total',
      'Handshakes that were refused, by the status of the answer.',
      ['status'],
      () =>
        Object.entries(jsonObjectOf(section().refused)).map(([status, count]) => [[status], Number(count)] as const),
      'counter',
    ),
  ]
}

/** What the process itself uses, by the names that collectors know. */
const processMetrics = (gateway: Gateway): readonly Metric[] => [
  gauge(
    'guard_instance_info',
    'This process among those that share its storage; absent where it is alone.',
    ['instance'],
    () => {
      const cluster = gateway.service('cluster').get()
      return cluster === undefined ? [] : [[[cluster.instance], 1]]
    },
  ),
  gauge('process_resident_memory_bytes', 'Resident memory.', [], () => [[[], process.memoryUsage.rss()]]),
  gauge('process_start_time_seconds', 'Start, seconds since 1970.', [], () => [[[], performance.timeOrigin / 1_000]]),
  gauge('process_cpu_seconds_total', 'Processor time of all threads.', [], () => [[[], cpuSeconds()]], 'counter'),
  gauge(
    'guard_parser_process_starts_total',
    'Starts of processes that parse YAML, SQL and shell commands.',
    [],
    () => countedOnce(parserProcess.counts.starts),
    'counter',
  ),
  gauge(
    'guard_parser_process_deaths_total',
    'Those of them that ended by themselves, or because a text took too long.',
    [],
    () => countedOnce(parserProcess.counts.deaths),
    'counter',
  ),
  gauge(
    'guard_parser_refused_texts_total',
    'Texts refused because their parser gave no answer, by kind and cause: timeout, died, overloaded, unavailable.',
    ['kind', 'cause'],
    () =>
      [...parserProcess.counts.refused].flatMap(([kind, causes]) =>
        Object.entries(causes)
          .filter(([, count]) => count > 0)
          .map(([cause, count]) => [[kind, cause], count] as const),
      ),
    'counter',
  ),
]

const countedOnce = (count: number) => (count === 0 ? [] : [[[], count] as const])

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const MAX_MODELS = 200
/** Bounds that the GenAI conventions of OpenTelemetry give; the last for what takes a part of a millisecond. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const FIRST = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const OWN = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
const SERVED = ['gen_ai_request_model', 'upstream', 'style']

/** Watches model requests from their arrival to their settlement. */
const callMetrics = (gateway: Gateway): readonly Metric[] => {
  const models = new LabelValues(MAX_MODELS, gateway.redact.text)
  const since = sinceOn(gateway.clock)
  const m = {
    tokens: new Histogram('gen_ai_client_token_usage', 'Tokens of a reply, by type.', TOKENS, [
      ...SERVED,
      'gen_ai_token_type',
    ]),
    duration: new Histogram(
      'gen_ai_server_request_duration',
      'Seconds from arrival to the end of a reply.',
      SECONDS,
      SERVED,
    ),
    first: new Histogram('gen_ai_server_time_to_first_token', 'Seconds from arrival to the first byte.', FIRST, SERVED),
    decisions: new Counter('guard_decisions_total', 'Decided requests.', ['decision', 'reason', 'mode']),
    retries: new Counter('guard_blocked_retries_total', 'Blocked requests that repeat a blocked one.', ['reason']),
    decide: new Histogram('guard_decide_seconds', 'Seconds from a request to its decision.', OWN),
    overhead: new Histogram('guard_overhead_seconds', 'Seconds from a request until it is forwarded.', OWN),
    errors: new Counter('guard_upstream_errors_total', 'Attempts that failed; status none: no answer.', [
      'upstream',
      'status',
    ]),
    streams: new Counter('guard_streams_ended_total', 'Forwarded streams, by how they ended.', ['outcome']),
    cost: new Counter('guard_cost_micro_total', 'Cost in millionths of the billing currency.', ['upstream']),
    lookups: new Counter('guard_cost_lookups_total', 'Replies that were priced, and that had no price.', ['status']),
    unpriced: new Counter(
      'guard_unpriced_budgets_total',
      'Replies without a price that a rule about cost had to count.',
      [],
    ),
    usage: new Counter('guard_usage_total', 'Replies by where their token counts come from.', ['source']),
  }
  let in_flight = 0
  const decide = m.decide.of([])
  const overhead = m.overhead.of([])
  const decisions = new Combinations((...labels) => m.decisions.of(labels))
  const replies = new Combinations(
    (...labels): Replies => ({
      duration: m.duration.of(labels),
      first: m.first.of(labels),
      input: m.tokens.of([...labels, 'input']),
      output: m.tokens.of([...labels, 'output']),
    }),
  )

  gateway.hooks.decision.tap({ name: 'metrics', stage: stages.decision.metrics }, (decision, call) => {
    in_flight++
    decide.observe(since(call.tick))
    return decision
  })
  gateway.hooks.forward.tap({ name: 'metrics', stage: stages.forward.metrics }, (call) => {
    overhead.observe(since(call.tick))
    return undefined
  })

  const served = (settled: Settled, upstream: string): void => {
    const { call, usage, usage_source, cost, first_byte_at, ended_at } = settled
    const { duration, first, input, output } = replies.at(models.of(call.envelope.model), upstream, call.style)
    duration.observe(seconds(call.at, ended_at))
    if (first_byte_at !== null) first.observe(seconds(call.at, first_byte_at))
    if (usage_source !== 'none') {
      input.observe(usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens)
      output.observe(usage.output_tokens)
    }
    m.usage.at(usage_source).count++
    if (call.envelope.stream) m.streams.at(settled.outcome).count++
    if (cost === undefined) return
    m.cost.at(upstream).count += cost.cost_micro
    m.lookups.at(cost.cost_source).count++
    if (call.notes.unpriced_rules !== undefined) m.unpriced.add([])
  }

  // behind whoever prices the call
  gateway.hooks.settle.tap({ name: 'metrics', stage: stages.settle.metrics }, (settled) => {
    in_flight--
    const { call, decision, attempts, upstream } = settled
    const reason = decision.reason ?? ''
    decisions.at(decision.decision, reason, call.mode).count++
    if (decision.repeats !== null) m.retries.at(reason).count++
    for (const attempt of attempts)
      if (hasFailed(attempt)) m.errors.add([attempt.upstream, String(attempt.status ?? 'none')])
    // a blocked call has an upstream too: the one that would have served it
    if (upstream !== null && attempts.length > 0) served(settled, upstream)
  })
  return [
    ...Object.values(m),
    gauge('guard_in_flight', 'Requests that were decided about and have not ended.', [], () => [[[], in_flight]]),
  ]
}

/** What is measured of the replies to one model, from one upstream, in one style. */
interface Replies {
  readonly duration: Buckets
  readonly first: Buckets
  readonly input: Buckets
  readonly output: Buckets
}

/** An attempt that was given up because its client had left is no failure of the upstream. */
const hasFailed = ({ status, error }: Attempt): boolean => (status === null ? error !== 'CLIENT_GONE' : status >= 400)

const sinceOn =
  (clock: Clock) =>
  (tick: number): number =>
    Math.max(0, clock.tick() - tick) / 1_000
/** Records of others may hold any times; no duration is negative. */
const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1_000

/** One thing for each combination of three words; it is found without a key being made of them. */
class Combinations<T> {
  readonly #make: (a: string, b: string, c: string) => T
  readonly #made = new Map<string, Map<string, Map<string, T>>>()

  constructor(make: (a: string, b: string, c: string) => T) {
    this.#make = make
  }

  at(a: string, b: string, c: string): T {
    const found = this.#made.get(a)?.get(b)?.get(c)
    return found ?? this.#begin(a, b, c)
  }

  #begin(a: string, b: string, c: string): T {
    const seconds = this.#made.get(a) ?? new Map<string, Map<string, T>>()
    const thirds = seconds.get(b) ?? new Map<string, T>()
    const one = this.#make(a, b, c)
    this.#made.set(a, seconds.set(b, thirds.set(c, one)))
    return one
  }
}
