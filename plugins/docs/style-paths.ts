import type { ApiStyle } from 'guard-gateway/core'

const anyObject = { type: 'object', additionalProperties: true, description: 'The form of the upstream.' } as const
const MODEL_PROXY = 'model proxy'

interface StylePath {
  readonly method: string
  readonly path: string
  readonly isGuarded: boolean
}

/** Paths with parameters, which the framework knows nothing of: requests that match no route of its own are compared with them. */
export const stylePaths = (styles: Iterable<ApiStyle>): Record<string, Record<string, object>> => {
  const described: Record<string, Record<string, object>> = {}
  for (const style of styles)
    for (const { method, path, isGuarded } of pathsOf(style)) {
      if (!path.includes('{')) continue
      const name = path.replaceAll('{+', '{')
      described[name] = { ...described[name], [method.toLowerCase()]: operation(style, name, method, isGuarded) }
    }
  return described
}

const pathsOf = ({ paths, unguarded = [] }: ApiStyle): readonly StylePath[] => [
  ...paths.map((path) => ({ method: 'POST', path, isGuarded: true })),
  ...unguarded.map((declared) => {
    const [method = '', path = ''] = declared.split(' ')
    return { method, path, isGuarded: false }
  }),
]

const operation = ({ id, list }: ApiStyle, path: string, method: string, isGuarded: boolean): object => ({
  tags: [MODEL_PROXY],
  security: [{ gateway_key: [] }, { x_api_key: [] }],
  summary: isGuarded ? `Model request, judged by the rules (${id})` : `Passes to the upstream, not counted (${id})`,
  parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'As the provider names it.',
    schema: { type: 'string' },
  })),
  ...(method === 'POST' || method === 'PUT' || method === 'PATCH' ? { requestBody: bodyOf(isGuarded, list) } : {}),
  responses: {
    200: {
      description: 'The reply of the upstream, untouched.',
      content: { 'application/json': { schema: anyObject } },
    },
    default: { description: 'Error, in the form of the dialect.' },
  },
})

const bodyOf = (isGuarded: boolean, list: string): object => ({
  content: { 'application/json': { schema: anyObject, example: isGuarded ? { [list]: [] } : {} } },
})
