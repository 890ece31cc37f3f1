import { importFormat } from 'guard-gateway/lib/export-format'
import { readConvertedFile } from 'guard-gateway/lib/otlp'
import { headOf } from 'guard-gateway/lib/trace-file'
import { langfuseSpans } from './spans.ts'

/** Observations of Langfuse: exports of its interface and of blob storage in JSON or JSON lines, and answers of its API. */
export const langfuse = importFormat({
  id: 'langfuse',
  title: 'Langfuse',
  module: import.meta.url,
  accepts: (file) => {
    const head = headOf(file)
    const isObservation = /"(?:traceId|trace_id)"\s*:/.test(head) && TYPE.test(head)
    return isObservation || (file.members.has('observations') && /"(?:id|trace)"\s*:/.test(head))
  },
  read: (file) => readConvertedFile(() => langfuseSpans(file)),
})

const TYPE = /"type"\s*:\s*"(?:SPAN|GENERATION|EVENT|AGENT|TOOL|CHAIN|RETRIEVER|EVALUATOR|EMBEDDING|GUARDRAIL)"/
