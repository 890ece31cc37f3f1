import { writeJson } from 'guard-gateway/lib/json'
import { otlpAttributes } from 'guard-gateway/lib/otlp'
import { Pace } from 'guard-gateway/lib/time-slice'
import { type Compression, encoders, type RequestBody } from '../request-bodies.ts'
import type { AuditRecord, RecordEncoder } from './audit-source.ts'

/** Characters of a request, unless a single record has more. */
const BODY_CHARS = 2 * 1024 * 1024

/** Records as requests of OTLP/JSON to `/v1/logs`. */
export const logRequests = (version: string, compression: Compression = 'gzip'): RecordEncoder =>
  async function* (records) {
    const pace = new Pace()
    let texts: string[] = []
    let chars = 0
    const body = async (): Promise<RequestBody> => ({
      bytes: await encoders[compression](requestOf(texts, version)),
      count: texts.length,
    })
    for (const record of records) {
      const text = writeJson(logRecord(record))
      if (texts.length > 0 && chars + text.length > BODY_CHARS) {
        yield await body()
        texts = []
        chars = 0
      }
      texts.push(text)
      chars += text.length
      if (pace.due) await pace.rest()
    }
    if (texts.length > 0) yield await body()
  }

const requestOf = (records: readonly string[], version: string): string => {
  const resource = writeJson(otlpAttributes({ 'service.name': 'guard-gateway', 'service.version': version }))
  const scope = writeJson({ name: 'guard-gateway', version })
  return `{"resourceLogs":[{"resource":${resource},"scopeLogs":[{"scope":${scope},"logRecords":[${records.join(',')}]}]}]}`
}

/** As OpenTelemetry numbers and calls them. */
const SEVERITIES = { info: [9, 'INFO'], warn: [13, 'WARN'], error: [17, 'ERROR'] } as const

/** What has a field of its own in a log record, or says the same as another member. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['schema', 'id', 'name', 'time', 'time_ns', 'trace_id', 'span_id', 'severity', 'attributes', 'origin'],
])

const logRecord = (record: AuditRecord): object => {
  const { id, name, time_ns, trace_id, span_id, severity, session_id, tool } = record
  const [severityNumber, severityText] = SEVERITIES[severity]
  const own = Object.entries(record)
    .filter(([key, value]) => !ELSEWHERE.has(key) && !(Array.isArray(value) && value.length === 0))
    .map(([key, value]) => [`guard.mcp.${key}`, value] as const)
  const attributes = {
    'guard.mcp.record_id': id,
    ...(session_id === null ? {} : { 'mcp.session.id': session_id }),
    ...(tool === null ? {} : { 'gen_ai.tool.name': tool }),
    ...Object.fromEntries(own),
  }
  return {
    timeUnixNano: String(time_ns),
    observedTimeUnixNano: String(time_ns),
    severityNumber,
    severityText,
    eventName: `guard.mcp.${name}`,
    body: { stringValue: sentence(record) },
    ...otlpAttributes(attributes),
    ...(isHex(trace_id, 32) ? { traceId: trace_id } : {}),
    ...(isHex(trace_id, 32) && isHex(span_id, 16) ? { spanId: span_id } : {}),
  }
}

const isHex = (id: string | null, digits: number): boolean =>
  id !== null && id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id)

/** `deny write_file on fs: no rule matches`. */
const sentence = ({ name, action, tool, server_id, reason }: AuditRecord): string => {
  const what = [action ?? name, tool, server_id === null ? null : `on ${server_id}`].filter((word) => word !== null)
  return reason === null ? what.join(' ') : `${what.join(' ')}: ${reason}`
}
