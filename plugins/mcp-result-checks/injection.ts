import { plainSchema } from 'guard-gateway/core'
import { examineTexts, mcpResultCheck } from 'guard-gateway/lib/mcp-check'
import type { Options } from './injection/find.ts'

type Parts = typeof import('./injection/find.ts')

/** The patterns take memory that only policies with this check need. */
let parts: Parts | undefined

const loadParts = async (): Promise<Parts> => {
  parts = await import('./injection/find.ts')
  return parts
}

/** Finds what is in a result to steer the agent that reads it: hidden text, requests to the agent, links elsewhere. */
export const injection = mcpResultCheck({
  id: 'injection',
  schema: plainSchema<Options>({
    type: 'object',
    additionalProperties: false,
    properties: {
      hosts: { $ref: '#/$defs/strings' },
      hidden: { type: 'boolean', default: true },
      requests: { type: 'boolean', default: true },
    },
  }),
  mends: 'redact',

  prepare: async () => void (await loadParts()),
  find(result, options) {
    const found = ({ injectionsIn }: Parts) => examineTexts(result, injectionsIn(options))
    return parts === undefined ? loadParts().then(found) : found(parts)
  },
})
