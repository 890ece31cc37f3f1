import { setTimeout as wait } from 'node:timers/promises'
import { median } from '../kit/table.ts'
import { Rounds, type Sample } from '../load/rounds.ts'
import { steady } from '../load/shapes.ts'
import { startLoadSetup, type Target } from '../load/targets.ts'
import { type Figure, figure } from './figures.ts'

const MODEL_RATE = 200
const SPANS_A_SECOND = 2_000
const SPANS_A_TRACE = 50

/** Latency of model requests with and without ingest of 2,000 spans per second, in alternating rounds of `requests` requests. */
export const ingestBesideTraffic = async (rounds: number, requests: number): Promise<readonly Figure[]> => {
  const setup = await startLoadSetup()
  try {
    const runner = new Rounds(setup)
    const target = setup.targets.find(({ name }) => name === 'gateway')
    if (target === undefined) throw new Error('no gateway was started')
    const shape = { ...steady, requests }
    const round = () => runner.sample(shape, target, { rate: MODEL_RATE })
    await round()
    const alone: Sample[] = []
    const beside: Sample[] = []
    let spans = 0
    let seconds = 0
    for (let turn = 0; turn < rounds; turn++) {
      alone.push(await round())
      const ingest = startIngest(target)
      beside.push(await round())
      const sent = await ingest.stop()
      spans += sent.spans
      seconds += sent.seconds
    }
    const failed = [...alone, ...beside].flatMap(({ errors }) => errors)
    if (failed.length > 0) throw new Error(`model requests failed: ${failed.join('; ')}`)
    return [
      ...latencies('alone', alone),
      ...latencies('beside ingest', beside),
      figure('ingest: spans taken in beside it', spans / seconds, 'spans/s'),
    ]
  } finally {
    await setup.stop()
    await setup.remove()
  }
}

const latencies = (when: string, samples: readonly Sample[]): readonly Figure[] => [
  figure(`ingest: model request ${when}, p50`, median(samples.map(({ p50_ms }) => p50_ms)), 'ms'),
  figure(`ingest: model request ${when}, p99`, median(samples.map(({ p99_ms }) => p99_ms)), 'ms'),
]

/** Sends traces at a fixed rate until stopped. `stop` resolves with the number of stored spans. */
const startIngest = ({ port }: Target) => {
  const stopped = new AbortController()
  const start = performance.now()
  let spans = 0
  const send = async (): Promise<void> => {
    const every_ms = (SPANS_A_TRACE / SPANS_A_SECOND) * 1_000
    for (let due = start; !stopped.signal.aborted; due += every_ms) {
      const early = due - performance.now()
      if (early > 0) await wait(early)
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(traceOf(spans)),
      })
      if (answer.status !== 201) throw new Error(`ingest answers ${answer.status}: ${await answer.text()}`)
      await answer.arrayBuffer()
      spans += SPANS_A_TRACE
    }
  }
  const sending = send()
  sending.catch(() => {})
  return {
    async stop(): Promise<{ readonly spans: number; readonly seconds: number }> {
      stopped.abort()
      await sending
      return { spans, seconds: (performance.now() - start) / 1_000 }
    },
  }
}

const traceOf = (number: number): object => ({
  project_id: 'bench',
  agent_name: 'builder',
  spans: Array.from({ length: SPANS_A_TRACE }, (_, at) => ({
    name: at % 2 === 0 ? 'tool.call' : 'command.exec',
    attributes: { 'gen_ai.tool.name': 'read_file', path: `src/${number}/${at}.ts`, bytes: at * 100 },
    events: [{ name: 'tool.result', attributes: { lines: at } }],
  })),
})
