/** What a key may be for. `admin` includes all others. */
export const scopes = ['models', 'mcp', 'ingest', 'read', 'operate', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** What the gateway key and the keys of agents are for. */
export const programScopes: ReadonlySet<Scope> = new Set(['models', 'mcp', 'ingest'])

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** The scopes that a list stands for: `admin` is all of them. */
export const expandScopes = (list: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(list.includes('admin') ? scopes : list)

export const hasScope = ({ scopes: held }: { readonly scopes: ReadonlySet<Scope> }, scope: Scope): boolean =>
  held.has(scope) || held.has('admin')
