import assert from 'node:assert/strict'
import { fromOtlp, type OtlpOptions } from '#lib/otlp'

/** A valid trace id. */
export const traceId = '0af7651916cd43dd8448eb211c80319c'
/** A valid span id. */
export const spanId = '00f067aa0ba902b7'
/** Nothing is left out. */
export const keepAll: OtlpOptions = { keepsContent: () => true }

/** Attributes in OTLP/JSON; a text is a string value, anything else a value as it stands. */
export const pairs = (values: Record<string, unknown>): object[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : value,
  }))

/** OTLP/JSON of one resource and one scope. */
export const resourceSpans = (spans: object[], resource: Record<string, unknown> = {}, scope: object = {}): object => ({
  resourceSpans: [{ resource: { attributes: pairs(resource) }, scopeSpans: [{ scope, spans }] }],
})

/** A span that ended well. */
export const span = (over: object = {}): object => ({
  traceId,
  spanId,
  name: 'op',
  startTimeUnixNano: '1782000000123456789',
  endTimeUnixNano: '1782000000123456999',
  ...over,
})

/** What the data says of its one run; fails if anything was rejected. */
export const read = async (data: object, options = keepAll) => {
  const reading = await fromOtlp(data, options)
  assert.deepEqual(reading.rejected, [])
  const [run] = reading.runs
  assert.ok(run)
  return {
    ...reading,
    run: run.run,
    spans: run.spans.map(({ record }) => record),
    events: run.events.map(({ record }) => record),
  }
}
/** The record of a span. */
export const spanOf = async (over: object) => (await read(resourceSpans([span(over)]))).spans[0]
/** What an attribute of this value reads as. */
export const attributeOf = async (value: object): Promise<unknown> =>
  (await spanOf({ attributes: [{ key: 'x', value }] }))?.attributes?.x
