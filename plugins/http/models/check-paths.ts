import { type ApiStyle, GuardError, type Registry } from 'guard-gateway/core'

interface Declared {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isGuarded: boolean
}

/**
 * Throws DUPLICATE with both names where two API styles serve one path: the framework and the table of patterns know neither.
 * What both let pass is served by the first: a style that is made of another one keeps such paths of it.
 */
export const checkPaths = (styles: Registry<ApiStyle>, spellings: (path: string) => readonly string[]): void => {
  const taken = new Map<string, Declared>()
  for (const declared of [...styles].flatMap(pathsOf))
    for (const url of spellings(declared.path)) {
      // parameters of different names match the same paths
      const route = `${declared.method} ${url.replace(/\{\+?\w+\}/g, '{}')}`
      const other = taken.get(route)
      if (other !== undefined && clash(other, declared)) throw twice(styles, other, declared)
      taken.set(route, other ?? declared)
    }
}

const pathsOf = ({ id, paths, unguarded = [] }: ApiStyle): readonly Declared[] => [
  ...paths.map((path) => ({ id, method: 'POST', path, isGuarded: true })),
  ...unguarded.map((declared) => {
    const [method = '', path = ''] = declared.split(' ', 2)
    return { id, method, path, isGuarded: false }
  }),
]

const clash = (one: Declared, other: Declared): boolean => one.id !== other.id && (one.isGuarded || other.isGuarded)

const twice = (styles: Registry<ApiStyle>, { id: first }: Declared, { id, method, path }: Declared): GuardError =>
  new GuardError(
    'DUPLICATE',
    `The API styles "${first}", added by ${styles.ownerOf(first)}, and "${id}", added by ${styles.ownerOf(id)}, both serve ${method} ${path}. Give the one of your own another path.`,
  )
