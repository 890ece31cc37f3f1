import { plainSchema } from 'guard-gateway/core'
import { mcpResultCheck, type ResultFinding, type ResultPart, type ToolResult } from 'guard-gateway/lib/mcp-check'

/** The limits. */
interface Options {
  /** Of all texts of the content together, and of `structuredContent` by itself. */
  max_bytes?: number
  /** Of all images, audio and blobs together. */
  max_data_bytes?: number
}

const limit = { type: 'integer', minimum: 1 }

/** Bounds how much a result may hold. A result of exactly the limit passes. */
export const resultSize = mcpResultCheck({
  id: 'size',
  schema: plainSchema<Options>({
    type: 'object',
    additionalProperties: false,
    anyOf: [{ required: ['max_bytes'] }, { required: ['max_data_bytes'] }],
    properties: { max_bytes: limit, max_data_bytes: limit },
  }),
  mends: 'cut',

  find: (result, { max_bytes = Infinity, max_data_bytes = Infinity }) => [
    ...longTexts(result, max_bytes),
    ...longStructure(result, max_bytes),
    ...longData(result, max_data_bytes),
  ],
})

/** Each part that goes beyond what the parts before it leave of the limit. */
const longTexts = ({ parts }: ToolResult, most: number): readonly ResultFinding[] => {
  const texts = parts.filter(isText)
  const whole = sum(texts)
  if (whole <= most) return []
  let left = most
  return texts.flatMap((part): readonly ResultFinding[] => {
    const room = left
    left = Math.max(0, left - part.bytes)
    if (part.bytes <= room) return []
    const start = charactersIn(part.text, room)
    const gone = `${part.bytes - Buffer.byteLength(part.text.slice(0, start))} of ${part.bytes} bytes`
    return [
      {
        pointer: part.pointer,
        reason: `goes beyond the ${most} bytes that the texts of a result may have; they have ${whole}`,
        certain: true,
        edit: { start, end: part.text.length, text: `[cut by Guard: ${gone} left out]` },
      },
    ]
  })
}

/** Texts of structures beside `structuredContent`, which has a limit of its own, are as long as others. */
const isText = ({ kind, pointer }: ResultPart): boolean =>
  kind === 'text' || (kind === 'structured' && !/^\/structuredContent(?:\/|$)/.test(pointer))

/** No part of it can be left out that its readers would not miss. */
const longStructure = ({ structured_bytes }: ToolResult, most: number): readonly ResultFinding[] =>
  structured_bytes <= most
    ? []
    : [
        {
          pointer: '/structuredContent',
          reason: `is ${structured_bytes} bytes long, ${most} allowed, and cannot be cut`,
          certain: true,
        },
      ]

const longData = ({ parts }: ToolResult, most: number): readonly ResultFinding[] => {
  const data = parts.filter(({ kind }) => kind === 'data')
  const whole = sum(data)
  let left = most
  return data.flatMap((part): readonly ResultFinding[] => {
    left -= part.bytes
    if (left >= 0) return []
    left += part.bytes
    return [
      {
        pointer: part.pointer,
        reason: `goes beyond the ${most} bytes that the images, audio and blobs of a result may have; they have ${whole}`,
        certain: true,
        edit: { start: 0, end: 0, text: `[cut by Guard: ${part.bytes} bytes of data left out]` },
      },
    ]
  })
}

const sum = (parts: readonly ResultPart[]): number => parts.reduce((bytes, part) => bytes + part.bytes, 0)

/** How many characters of a text fit into so many UTF-8 bytes; never half a character. */
const charactersIn = (text: string, bytes: number): number => {
  if (bytes === 0) return 0
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return read
}
