import { type Gateway, GuardError } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { dotted } from './faults.ts'
import type { Config } from './schema.ts'

/** Those that every preset may leave out: an upstream may name them although nothing here asks for them. */
const wellKnown = ['messages', 'responses', 'chat_completions']

/** Refuses an upstream whose style no plugin of the gateway speaks. Throws INVALID_CONFIG. */
export const checkStyles = ({ apiStyles }: Gateway, { upstreams }: Config): void => {
  const known = new Set([...wellKnown, ...apiStyles.ids()])
  for (const [index, { styles }] of upstreams.entries()) {
    const at = styles.findIndex((style) => !known.has(style))
    const style = styles[at]
    if (style === undefined) continue
    const path = dotted(['upstreams', index, 'styles', at])
    const told = `${path}: no plugin speaks the style "${style}"; there is ${[...known].join(', ')}.${suggestion(style, [...known])}`
    throw new GuardError('INVALID_CONFIG', told, { path, known: [...known] })
  }
}
