import type { Attributes } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import type { SpanParts } from 'guard-gateway/lib/otlp'
import { elementsOf, type ImportLocation } from 'guard-gateway/lib/trace-file'

const INTEGER = /^-?\d{1,15}$/

/** Values of typed tags; the last of equal keys counts. Throws ImportFault. */
export const attributesOf = (record: JsonObject, key: string, place: ImportLocation): Attributes => {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const { record: tag } of elementsOf(record, key, place))
    if (typeof tag.key === 'string') attributes[tag.key] = tagValue(tag)
  return attributes
}

/** Numbers come as text from some versions. */
const tagValue = ({ type, value }: JsonObject): unknown => {
  if (typeof value !== 'string') return value
  if (type === 'int64' && INTEGER.test(value)) return Number(value)
  if (type === 'float64' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value)
  return type === 'bool' ? value === 'true' : value
}

const kinds: Readonly<Record<string, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }

/** Kind and status, which tags tell. */
export const statusOf = (attributes: Attributes): Pick<SpanParts, 'kind' | 'error'> => {
  const { 'otel.status_code': code, 'otel.status_description': said, error, 'span.kind': kind } = attributes
  const failed = code === 'ERROR' || error === true || error === 'true'
  return {
    kind: kinds[String(kind)] ?? 1,
    ...(failed ? { error: typeof said === 'string' && said !== '' ? said : null } : {}),
  }
}
