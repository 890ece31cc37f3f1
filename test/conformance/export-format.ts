import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type ArtifactDraft, type EventDraft, GuardError, type RunDraft, type SpanDraft } from 'guard-gateway/core'
import type { ExportFormat } from '#lib/export-format'
import { readJson, writeJson } from '#lib/json'
import { buildSpanTree, type Trace } from '#lib/trace'
import { importFile, writeTrace } from '#lib/trace-file'
import { exported, readBy } from '../kit/exchange.ts'
import { aRun, aSpan, attributes, traces } from '../kit/traces.ts'

/** Values as JSON of exact integers has them, so that prototypes do not count. */
const plain = (value: unknown): unknown => readJson(writeJson(value))

const byId = (one: { readonly id?: string }, other: { readonly id?: string }): number =>
  String(one.id) < String(other.id) ? -1 : 1

const runExpected = ({ run }: Trace, read: RunDraft): RunDraft => ({
  trace_id: run.trace_id,
  project_id: run.project_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  task_id: run.task_id,
  agent_name: run.agent_name,
  name: run.name,
  status: run.status,
  tags: run.tags,
  attributes: run.attributes,
  ...(run.failure_tag !== null && run.failure_tag_source === 'explicit' ? { failure_tag: run.failure_tag } : {}),
  // a format without times of the run leaves them to its root span
  ...('start_ns' in read ? { start_ns: run.start_ns, end_ns: run.end_ns } : {}),
})

const spansExpected = ({ spans }: Trace): SpanDraft[] =>
  spans.map((span) => ({
    id: span.id,
    parent_id: span.parent_id,
    name: span.name,
    kind: span.kind,
    status: span.status,
    status_message: span.status_message,
    start_ns: span.start_ns,
    end_ns: span.end_ns,
    attributes:
      span.declared_parent_id === undefined
        ? span.attributes
        : { 'import.original_parent_id': span.declared_parent_id, ...span.attributes },
  }))

const eventsExpected = ({ spans, events }: Trace): EventDraft[] =>
  [...spans.flatMap((span) => span.events), ...events].map(({ owner: _, ...event }) => event)

const artifactsExpected = ({ artifacts }: Trace): readonly ArtifactDraft[] => artifacts

/** A run of `count` spans, each with attributes and an event. */
const largeTrace = (count: number): Trace => {
  const numbers = Array.from({ length: count }, (_, index) => index)
  return buildSpanTree(aRun({ span_count: count + 1 }), 'root', {
    spans: [
      aSpan(),
      ...numbers.map((n) =>
        aSpan({ id: `s${n}`, parent_id: n % 3 ? `s${n - 1}` : 'root', name: 'tool.call', attributes: { n } }),
      ),
    ],
    events: numbers.map((n) => ({
      id: `e${n}`,
      span_id: n % 2 ? `s${n}` : 'root',
      name: 'tool.result',
      time_ns: BigInt(n),
      severity: 'info',
      owner: 'client',
      request_id: null,
      attributes: {},
    })),
    artifacts: [],
  })
}

/** Runs `read` on hostile text: it may succeed or throw GuardError, nothing else. */
const orRefused = (read: () => unknown): GuardError | undefined => {
  try {
    read()
  } catch (error) {
    if (error instanceof GuardError) return error
    throw error
  }
  return
}

/** What every export format promises; one that reads, also that it reads what it wrote. */
export const exportFormatConforms = (format: ExportFormat): void => {
  describe(`export format ${format.id}`, () => {
    it('names itself, its media type and its extension', () => {
      assert.match(format.id, /^[a-z][a-z0-9_]{0,31}$/)
      assert.match(format.mediaType, /^[a-z]+\/[a-z0-9.+-]+$/)
      assert.match(format.extension, /^[a-z0-9]+(\.[a-z0-9]+)*$/)
    })

    it('writes 30,000 spans in pieces, none of them long', () => {
      let pieces = 0
      let longest = 0
      let total = 0
      for (const piece of writeTrace(format, largeTrace(30_000))) {
        pieces++
        total += piece.length
        longest = Math.max(longest, piece.length)
      }
      assert.ok(total > 5_000_000)
      assert.ok(pieces > 100 && pieces < 2_000, `${pieces} pieces`)
      assert.ok(longest < 40_000, `a piece of ${longest} characters`)
    })

    it('writes a span of 10,000 events in pieces', () => {
      const events = Array.from({ length: 10_000 }, (_, n) => ({
        id: `e${n}`,
        span_id: 'root',
        name: 'tool.result',
        time_ns: 1n,
        severity: 'info' as const,
        owner: 'client' as const,
        request_id: null,
        attributes: {},
      }))
      const trace = buildSpanTree(aRun(), 'root', { spans: [aSpan()], events, artifacts: [] })
      for (const piece of writeTrace(format, trace)) assert.ok(piece.length < 40_000)
    })

    it('has both halves of an import, or none', () => {
      assert.equal(typeof format.read, typeof format.accepts)
    })
  })
  if (format.read !== undefined) reads(format)
}

const reads = (format: ExportFormat): void => {
  describe(`export format ${format.id}, read`, () => {
    it('reads back what it wrote, to the nanosecond and whatever the names', () => {
      fc.assert(
        fc.property(traces, (trace) => {
          const text = exported(format, trace)
          assert.ok(format.accepts?.(importFile(text)))
          const { runs, warnings } = readBy(format, text)
          const [read] = runs
          assert.ok(read && runs.length === 1)
          assert.deepEqual(warnings, [])
          assert.deepEqual(plain(read.run), plain(runExpected(trace, read.run)))
          assert.deepEqual(plain(read.spans), plain(spansExpected(trace)))
          assert.deepEqual(plain([...read.events].sort(byId)), plain(eventsExpected(trace).sort(byId)))
          assert.deepEqual(plain([...read.artifacts].sort(byId)), plain([...artifactsExpected(trace)].sort(byId)))
        }),
        { seed: 11, numRuns: 60 },
      )
    })

    it('reads the same whatever chunks the file comes in', () => {
      const text = exported(format, largeTrace(12)).replaceAll('tool.call', 'tööl \\"{[,\\\\')
      const whole = readBy(format, text)
      assert.equal(whole.runs[0]?.spans[1]?.name, 'tööl "{[,\\')
      for (let chunk = 1; chunk < 40; chunk++) assert.deepEqual(readBy(format, text, chunk), whole)
    })

    it('keeps exact integers and hostile names of attributes', () => {
      fc.assert(
        fc.property(attributes, (given) => {
          const trace = buildSpanTree(aRun({ attributes: given }), 'root', {
            spans: [aSpan({ attributes: given })],
            events: [],
            artifacts: [],
          })
          const [read] = readBy(format, exported(format, trace)).runs
          assert.deepEqual(plain(read?.run.attributes), plain(given))
          assert.deepEqual(plain(read?.spans[0]?.attributes), plain(given))
        }),
        { seed: 12, numRuns: 80 },
      )
    })

    it('refuses text that was cut, saying where', () => {
      const text = exported(format, largeTrace(3))
      for (let end = 0; end < text.length; end += 37) {
        const error = orRefused(() => readBy(format, text.slice(0, end)))
        if (error !== undefined) assert.ok(error.place.line !== undefined, error.message)
        else assert.equal(text[end - 1] === '\n' || text[end] === '\n', true)
      }
    })

    it('answers any JSON with runs or a GuardError', () => {
      const members = fc.constantFrom(
        ...['schema', 'run', 'spans', 'events', 'id', 'trace_id', 'name', 'type', 'attributes', 'parent_id'],
        ...['resourceSpans', 'scopeSpans', 'resource', 'scope', 'traceId', 'spanId', 'key', 'value', 'status'],
      )
      const words = fc.constantFrom('trace.v1', 'run', 'span', 'event', 'a', 'ab'.repeat(16), 'ab'.repeat(8), '')
      const { tree } = fc.letrec((tie) => ({
        tree: fc.oneof(
          { depthSize: 'large', maxDepth: 8 },
          words,
          fc.constantFrom(0, -1, 1e308, null, true),
          fc.array(tie('tree'), { maxLength: 3 }),
          fc.dictionary(members, tie('tree'), { maxKeys: 6 }),
        ),
      }))
      fc.assert(
        fc.property(tree, (value) => void orRefused(() => readBy(format, JSON.stringify(value)))),
        { seed: 13, numRuns: 250 },
      )
    })

    it('refuses text that nests too deep, without running out of stack', () => {
      for (const open of ['[', '{"a":', '{"spans":[', '{"resourceSpans":[']) {
        const error = orRefused(() => readBy(format, open.repeat(200_000)))
        assert.equal(error?.code, 'TOO_DEEP')
      }
    })
  })
}
