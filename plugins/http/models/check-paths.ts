import { type ApiStyle, GuardError, type Registry } from 'guard-gateway/core'

/** Throws DUPLICATE with both names where two API styles serve one path: the framework and the table of patterns know neither. `spellings`: of a path. */
export const checkPaths = (styles: Registry<ApiStyle>, spellings: (path: string) => readonly string[]): void => {
  const taken = new Map<string, string>()
  for (const { id, paths, unguarded = [] } of styles)
    for (const declared of [...paths.map((path) => `POST ${path}`), ...unguarded]) {
      const [method = '', path = ''] = declared.split(' ', 2)
      for (const url of spellings(path)) {
        // parameters of different names match the same paths
        const route = `${method} ${url.replace(/\{\+?\w+\}/g, '{}')}`
        const other = taken.get(route)
        if (other !== undefined && other !== id)
          throw new GuardError(
            'DUPLICATE',
            `The API styles "${other}", added by ${styles.ownerOf(other)}, and "${id}", added by ${styles.ownerOf(id)}, both serve ${method} ${path}. Give the one of your own another path.`,
          )
        taken.set(route, id)
      }
    }
}
