import { GuardError } from 'guard-gateway/core'

/** Where the reading of one table goes on: a cursor of the storage, or null for its beginning. */
export type Place = string | null
/** The table is read to its end. */
export const END = ''

/** Where the reading of both tables of a history goes on. */
export interface Places {
  readonly decisions: Place
  readonly others: Place
}

export const sealPlaces = ({ decisions, others }: Places): string =>
  Buffer.from(JSON.stringify([decisions, others])).toString('base64url')

const isPlace = (value: unknown): value is Place => value === null || typeof value === 'string'

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** What `sealPlaces` made; throws INVALID_CURSOR if it did not make this. Each place is checked by the storage. */
export const openPlaces = (cursor: string | undefined): Places => {
  if (cursor === undefined) return { decisions: null, others: null }
  const places = parsed(cursor)
  if (Array.isArray(places) && places.length === 2) {
    const [decisions, others]: unknown[] = places
    if (isPlace(decisions) && isPlace(others)) return { decisions, others }
  }
  throw new GuardError(
    'INVALID_CURSOR',
    'The cursor is none of a session history. Start again without a cursor, and pass on "next_cursor" as it came.',
  )
}
