import { isJsonObject } from '#lib/json'

/** Where a client takes a stream up again: after which events of which members. */
export interface Resumption {
  /** The stream of unsolicited messages, which those of all members run into. */
  readonly isShared: boolean
  readonly after: Readonly<Record<string, string>>
}

/** Clients send it as a header. */
const MAX_ID = 4_096

/** An event id of the bundle. `last`: the last ids of other members in the same stream. */
export const eventId = (member_id: string, id: string, last?: ReadonlyMap<string, string>): string => {
  const shared = { ...(last === undefined ? {} : Object.fromEntries(last)), [member_id]: id }
  const text = encoded(last !== undefined, shared)
  return text.length <= MAX_ID ? text : encoded(last !== undefined, { [member_id]: id })
}

const encoded = (isShared: boolean, after: Readonly<Record<string, string>>): string =>
  `${isShared ? 's' : 'r'}.${Buffer.from(JSON.stringify(after)).toString('base64url')}`

/** What an event id says; undefined for one that is none of a bundle. */
export const readEventId = (text: string): Resumption | undefined => {
  const [form, packed = ''] = text.split('.', 2)
  if (form !== 's' && form !== 'r') return undefined
  try {
    const after: unknown = JSON.parse(Buffer.from(packed, 'base64url').toString())
    if (!isJsonObject(after) || !Object.values(after).every((id) => typeof id === 'string')) return undefined
    return { isShared: form === 's', after: after as Readonly<Record<string, string>> }
  } catch {
    return undefined
  }
}
