import { importFormat } from 'guard-gateway/lib/export-format'
import { otlpAttributes, otlpSpanJson, readConvertedFile } from 'guard-gateway/lib/otlp'
import { headOf } from 'guard-gateway/lib/trace-file'

/** Steps of a build, one a line: start and end in milliseconds since 1970, and the command. */
export const buildLog = importFormat({
  id: 'build_log',
  title: 'Build log',
  accepts: (file) => /^\d{13} \d{13} \S/.test(headOf(file)),
  read: (file) => readConvertedFile(() => stepsIn(file.text())),
})

const resource = otlpAttributes({ 'service.name': 'build' })
const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

function* stepsIn(text: string) {
  for (const [index, line] of text.trimEnd().split('\n').entries()) {
    const [start = '', end = '', ...words] = line.split(' ')
    const span = otlpSpanJson({
      trace_id: hex(Number(text.slice(0, 13)), 32),
      span_id: hex(index + 1, 16),
      name: words[0] ?? 'step',
      start_ns: BigInt(start) * 1_000_000n,
      end_ns: BigInt(end) * 1_000_000n,
      attributes: {},
    })
    yield { resource, scope: {}, span, line: index + 1, path: [] }
  }
}
