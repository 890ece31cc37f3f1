import type { Redactor } from 'guard-gateway/core'
import { isJsonObject, readJson } from '#lib/json'
import { cutText } from '#lib/text'

const TITLE_CHARS = 200
const DESCRIPTION_CHARS = 2_000

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
type Hint = (typeof hints)[number]

/** What a server says of one of its tools: unchecked, redacted; the description has at most 2,000 characters. */
export interface ToolDescription {
  readonly title: string | null
  readonly description: string | null
  /** Hints as the MCP specification names them (`ToolAnnotations`), as far as they are given. */
  readonly annotations: Partial<Readonly<Record<Hint, boolean>>>
}

/** Reads it from a definition, JSON text as the server wrote it. */
export const describeTool = (json: string, redact: Redactor): ToolDescription => {
  const read: unknown = readJson(json)
  const { title, description, annotations } = isJsonObject(read) ? read : {}
  const noted = isJsonObject(annotations) ? annotations : {}
  // redacted whole, shortened afterwards: the other way round half a secret would stay
  const text = (value: unknown, most: number): string | null => {
    const whole = typeof value === 'string' ? redact.text(value) : ''
    if (whole === '') return null
    return whole.length <= most ? whole : `${cutText(whole, most)}… (${whole.length} characters)`
  }
  return {
    title: text(title ?? noted.title, TITLE_CHARS),
    description: text(description, DESCRIPTION_CHARS),
    annotations: Object.fromEntries(
      hints.flatMap((hint) => (typeof noted[hint] === 'boolean' ? [[hint, noted[hint]]] : [])),
    ),
  }
}
