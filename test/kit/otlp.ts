import assert from 'node:assert/strict'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import type { ExportOptions } from '#lib/export-format'
import type { Trace } from '#lib/trace'
import { writeTrace } from '#lib/trace-file'
import { aSpan, aTrace } from './traces.ts'

interface Pair {
  readonly key: string
  readonly value: Record<string, unknown>
}
interface OtlpEvent {
  readonly name: string
  readonly timeUnixNano: string
  readonly attributes: readonly Pair[]
}
interface OtlpSpan extends Record<string, unknown> {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly Pair[]
  readonly events: readonly OtlpEvent[]
}

/** The parts of a trace's OTLP/JSON. */
export const written = (trace: Trace, options?: ExportOptions) => {
  const { resourceSpans } = JSON.parse([...writeTrace(otel, trace, options)].join(''))
  assert.equal(resourceSpans.length, 1)
  assert.equal(resourceSpans[0].scopeSpans.length, 1)
  const spans = resourceSpans[0].scopeSpans[0].spans as [OtlpSpan, ...OtlpSpan[]]
  return {
    resource: resourceSpans[0].resource as { attributes: Pair[] },
    scope: resourceSpans[0].scopeSpans[0].scope,
    spans,
  }
}

/** Values by key. */
export const attributesOf = (record: { readonly attributes: readonly Pair[] } | undefined): Record<string, unknown> =>
  Object.fromEntries(record?.attributes.map(({ key, value }) => [key, value]) ?? [])

/** A trace of a root and one more span. */
export const withSpan = (over: Parameters<typeof aSpan>[0]): Trace => aTrace({ spans: [aSpan({ id: 'a', ...over })] })
/** That span in OTLP/JSON. */
export const secondOf = (over: Parameters<typeof aSpan>[0], options?: ExportOptions): OtlpSpan | undefined =>
  written(withSpan(over), options).spans[1]
