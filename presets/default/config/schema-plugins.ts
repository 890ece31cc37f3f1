import { Type } from '#lib/json'

/** A plugin file, or one with options for its plugin. */
export type PluginEntry = string | { readonly use: string; readonly with?: Readonly<Record<string, unknown>> }

/** What the plugin's own schema says of `with` is checked once its file is loaded. */
export const pluginsSchema = Type.Array(
  Type.Unsafe<PluginEntry>({
    type: ['string', 'object'],
    minLength: 1,
    properties: { use: { type: 'string', minLength: 1 }, with: { type: 'object' } },
    required: ['use'],
    additionalProperties: false,
  }),
  {
    default: [],
    description: 'plugin files, relative to this file; those with options: [{ use: ./a.ts, with: {} }]',
  },
)
