/** What servers list, and requests name. */
export const kinds = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const
export type Kind = (typeof kinds)[number]

export interface ListKind {
  readonly kind: Kind
  readonly method: string
  /** The member of an entry that names it. */
  readonly key: 'name' | 'uri' | 'uriTemplate'
  /** The capability of servers that have such a list. */
  readonly capability: 'tools' | 'prompts' | 'resources'
  /** What an entry is called in texts. */
  readonly word: string
}

export const listKinds: Readonly<Record<Kind, ListKind>> = {
  tools: { kind: 'tools', method: 'tools/list', key: 'name', capability: 'tools', word: 'tool' },
  prompts: { kind: 'prompts', method: 'prompts/list', key: 'name', capability: 'prompts', word: 'prompt' },
  resources: { kind: 'resources', method: 'resources/list', key: 'uri', capability: 'resources', word: 'resource' },
  resourceTemplates: {
    kind: 'resourceTemplates',
    method: 'resources/templates/list',
    key: 'uriTemplate',
    capability: 'resources',
    word: 'resource template',
  },
}

/** The kind that a method lists; undefined for any other method. */
export const kindListedBy = (method: string): ListKind | undefined =>
  kinds.map((kind) => listKinds[kind]).find((one) => one.method === method)

/** The kinds whose lists a notification of a server says to be others now. */
export const kindsChangedBy = (method: string | undefined): readonly Kind[] => changed.get(method ?? '') ?? []

const changed: ReadonlyMap<string, readonly Kind[]> = new Map([
  ['notifications/tools/list_changed', ['tools']],
  ['notifications/prompts/list_changed', ['prompts']],
  ['notifications/resources/list_changed', ['resources', 'resourceTemplates']],
])

/** The notification that the lists of a capability are others now. */
export const listChanged = (capability: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/${capability}/list_changed"}`
