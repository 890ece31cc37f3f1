import { importFormat } from 'guard-gateway/lib/export-format'
import { readConvertedFile } from 'guard-gateway/lib/otlp'
import { headOf } from 'guard-gateway/lib/trace-file'
import { jaegerSpans } from './spans.ts'

/** Traces as Jaeger's UI and its `/api/traces` give them: `{ "data": [{ "traceID", "spans", "processes" }] }`. */
export const jaeger = importFormat({
  id: 'jaeger',
  title: 'Jaeger',
  module: import.meta.url,
  accepts: (file) => file.members.has('data') && /"(?:traceID|spanID)"\s*:/.test(headOf(file)),
  read: (file) => readConvertedFile(() => jaegerSpans(file)),
})
