import { basename } from 'node:path'
import { ownPluginKind } from 'guard-gateway/lib/plugin-options'
import { type Check, ok } from './check.ts'

/** Names the plugins of the user's, each with its file and the names of its options. What the options are is not shown. */
export const plugins: Check = ({ gateway }) =>
  [...(gateway?.registry(ownPluginKind) ?? [])].map(({ id, file, given }) =>
    ok(`plugin ${id} of ${basename(file)}${given.length === 0 ? '' : `, with ${given.join(', ')}`}`),
  )
