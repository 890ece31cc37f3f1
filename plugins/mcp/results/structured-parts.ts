import { isScanFault, type JsonValue, pointerPart, scanJson, stringIn } from 'guard-gateway/lib/json'
import { type PlacedPart, placedText } from './placed-part.ts'

/** Shorter names of members have no room to say anything. */
const NAME_CHARS = 24

interface Place {
  readonly value: JsonValue
  readonly pointer: string
}

/** The texts in `structuredContent`, and long names in it. `offset`: where its source begins in the message. */
export function* structuredParts(source: string, offset: number): Generator<PlacedPart> {
  const scan = scanJson(source)
  const open: Place[] = isScanFault(scan) ? [] : [{ value: scan.root, pointer: '/structuredContent' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer } = next
    const text = stringIn(source, value)
    if (text !== undefined && text !== '') yield placedText('structured', text, value, pointer, offset)
    yield* namesIn(next, offset)
    open.push(...placesIn(next))
  }
}

function* namesIn({ value, pointer }: Place, offset: number): Generator<PlacedPart> {
  for (const { name, value: inner } of value.members ?? [])
    if (name.length > NAME_CHARS) yield placedText('name', name, inner, `${pointer}/${pointerPart(name)}`, offset)
}

const placesIn = ({ value, pointer }: Place): readonly Place[] =>
  value.members?.map(({ name, value: inner }) => ({ value: inner, pointer: `${pointer}/${pointerPart(name)}` })) ??
  value.items?.map((inner, index) => ({ value: inner, pointer: `${pointer}/${index}` })) ??
  []
