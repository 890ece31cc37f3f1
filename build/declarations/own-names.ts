import { manifest } from '../project.ts'

/** The source behind a public name: of `guard-gateway/lib/json`, `./plugins/lib/json.ts`. */
export const sourceOf = (name: string): string => {
  const wanted = `.${name.slice('guard-gateway'.length)}`
  const found = Object.entries(manifest.exports).flatMap(([pattern, target]) => {
    if (target === null || typeof target === 'string') return []
    const [head = '', tail] = pattern.split('*')
    if (tail === undefined) return pattern === wanted ? [target['guard-source']] : []
    const star = wanted.slice(head.length)
    return wanted.startsWith(head) && !star.includes('/') ? [target['guard-source'].replace('*', star)] : []
  })
  const [source] = found
  if (source === undefined) throw new Error(`${name} is no public name.`)
  return source
}
