/** One model as an upstream lists it. */
export interface ListedModel {
  readonly id: string
  readonly display_name?: unknown
  /** RFC 3339. */
  readonly created_at?: unknown
  /** Seconds since 1970. */
  readonly created?: unknown
}

/** A listed model and the upstream that serves it. */
export type MergedModel = ListedModel & { readonly upstream: string }

export const isListedModel = (entry: unknown): entry is ListedModel =>
  typeof entry === 'object' && entry !== null && typeof Reflect.get(entry, 'id') === 'string'

/** The list as clients of the Messages API read it. */
export const messagesList = (models: readonly MergedModel[]): object => ({
  data: models.map(({ id, display_name, created_at, created }) => ({
    type: 'model',
    id,
    display_name: typeof display_name === 'string' ? display_name : id,
    created_at: typeof created_at === 'string' ? created_at : new Date(seconds(created) * 1000).toISOString(),
  })),
  has_more: false,
  first_id: models[0]?.id ?? null,
  last_id: models[models.length - 1]?.id ?? null,
})

/** The list as all other clients read it. */
export const openaiList = (models: readonly MergedModel[]): object => ({
  object: 'list',
  data: models.map(({ id, created, upstream }) => ({
    id,
    object: 'model',
    created: seconds(created),
    owned_by: upstream,
  })),
})

/** A time in seconds that a date can hold; 0 for anything else. */
const seconds = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value < 1e11 ? Math.floor(value) : 0
