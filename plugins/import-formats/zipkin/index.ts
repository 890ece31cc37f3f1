import { importFormat } from 'guard-gateway/lib/export-format'
import { readConvertedFile } from 'guard-gateway/lib/otlp'
import { headOf } from 'guard-gateway/lib/trace-file'
import { zipkinSpans } from './spans.ts'

/** Spans in Zipkin's JSON of version 2: a list of spans, or a list of such lists. */
export const zipkin = importFormat({
  id: 'zipkin',
  title: 'Zipkin',
  module: import.meta.url,
  accepts: (file) => {
    const head = headOf(file)
    return /^\s*\[\s*\[?\s*\{/.test(head) && /"traceId"\s*:/.test(head) && !/"observations"|"traceID"/.test(head)
  },
  read: (file) => readConvertedFile(() => zipkinSpans(file)),
})
