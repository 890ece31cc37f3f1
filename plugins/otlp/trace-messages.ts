import type { INamespace } from 'protobufjs'

type Fields = Readonly<Record<string, readonly [type: string, id: number]>>

const message = (fields: Fields, repeated: readonly string[] = []) => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, [type, id]]) => [
      name,
      repeated.includes(name) ? { rule: 'repeated', type, id } : { type, id },
    ]),
  ),
})

const anyValue = message({
  stringValue: ['string', 1],
  boolValue: ['bool', 2],
  intValue: ['int64', 3],
  doubleValue: ['double', 4],
  arrayValue: ['ArrayValue', 5],
  kvlistValue: ['KeyValueList', 6],
  bytesValue: ['bytes', 7],
})

/**
 * Protobuf messages of the OTLP trace service, with the names of OTLP/JSON. Unused fields are
 * absent, so the decoder skips them. Enumerations are integers, so that a new value is no error.
 */
export const traceMessages: INamespace = {
  nested: {
    TracesData: message({ resourceSpans: ['ResourceSpans', 1] }, ['resourceSpans']),
    ResourceSpans: message({ resource: ['Resource', 1], scopeSpans: ['ScopeSpans', 2] }, ['scopeSpans']),
    Resource: message({ attributes: ['KeyValue', 1] }, ['attributes']),
    ScopeSpans: message({ scope: ['Scope', 1], spans: ['Span', 2] }, ['spans']),
    Scope: message({ name: ['string', 1], version: ['string', 2] }),
    Span: message(
      {
        traceId: ['bytes', 1],
        spanId: ['bytes', 2],
        traceState: ['string', 3],
        parentSpanId: ['bytes', 4],
        name: ['string', 5],
        kind: ['int32', 6],
        startTimeUnixNano: ['fixed64', 7],
        endTimeUnixNano: ['fixed64', 8],
        attributes: ['KeyValue', 9],
        events: ['Event', 11],
        links: ['Link', 13],
        status: ['Status', 15],
      },
      ['attributes', 'events', 'links'],
    ),
    Event: message({ timeUnixNano: ['fixed64', 1], name: ['string', 2], attributes: ['KeyValue', 3] }, ['attributes']),
    Link: message({ traceId: ['bytes', 1], spanId: ['bytes', 2], attributes: ['KeyValue', 4] }, ['attributes']),
    Status: message({ message: ['string', 2], code: ['int32', 3] }),
    KeyValue: message({ key: ['string', 1], value: ['AnyValue', 2] }),
    AnyValue: { ...anyValue, oneofs: { value: { oneof: Object.keys(anyValue.fields) } } },
    ArrayValue: message({ values: ['AnyValue', 1] }, ['values']),
    KeyValueList: message({ values: ['KeyValue', 1] }, ['values']),
    ExportResponse: message({ partialSuccess: ['PartialSuccess', 1] }),
    PartialSuccess: message({ rejectedSpans: ['int64', 1], errorMessage: ['string', 2] }),
    ErrorStatus: message({ code: ['int32', 1], message: ['string', 2] }),
  },
}
