import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { Type } from '#lib/json'
import type { ListedTool } from './listed-tool.ts'
import type { LoadOptions, PolicySource } from './load.ts'
import { validatePolicy } from './validate.ts'

export interface ValidateRouteOptions extends LoadOptions {
  /** The tools that servers have listed, for warnings about them; undefined where none has. */
  readonly tools?: () => readonly ListedTool[] | undefined
  /** Ids and names of all keys, for warnings about others. */
  readonly keys?: () => Promise<ReadonlySet<string>>
}

const place = {
  code: Type.String(),
  path: Type.String({ description: 'JSON pointer; empty for the whole policy' }),
  line: Type.Union([Type.Integer(), Type.Null()]),
  column: Type.Union([Type.Integer(), Type.Null()]),
  message: Type.String(),
}

const ValidationAnswer = Type.Object({
  valid: Type.Boolean({ description: 'no errors, and every test passes' }),
  version: Type.Union([Type.String(), Type.Null()]),
  errors: Type.Array(Type.Object(place)),
  warnings: Type.Array(Type.Object(place)),
  tests: Type.Array(
    Type.Object({
      name: Type.String(),
      pass: Type.Boolean(),
      expected: Type.String(),
      actual: Type.String(),
      rule: Type.String({ description: 'ids of the winning rules' }),
    }),
  ),
})

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']
const MAX_BODY = 2_097_152

/** Validation of a policy, below `/api/v1/mcp`. Nothing of it is put into force. */
export const policyRoutes =
  (gateway: Gateway, { tools, keys, ...options }: ValidateRouteOptions = {}): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addContentTypeParser(YAML_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.post(
      '/policies/validate',
      {
        bodyLimit: MAX_BODY,
        // The schema describes; what is wrong with a policy is the answer.
        validatorCompiler: () => () => true,
        schema: {
          summary: 'Check an MCP policy: errors, warnings, and its own tests',
          description: 'Takes {"yaml": text}, {"policy": object}, a policy itself, or YAML as application/yaml.',
          tags: ['mcp'],
          body: {
            content: {
              'application/json': {
                schema: Type.Object({}, { additionalProperties: true, examples: [examplePolicy] }),
              },
              'application/yaml': { schema: Type.String({ examples: [exampleYaml] }) },
            },
          },
          response: { 200: ValidationAnswer },
        },
      },
      async ({ body }) => {
        const seen = tools?.()
        const { valid, version, errors, warnings, tests } = await validatePolicy(gateway, sourceOf(body), {
          ...options,
          ...(seen === undefined ? {} : { tools: seen }),
          ...(keys === undefined ? {} : { keys: await keys() }),
        })
        return { valid, version, errors: [...errors], warnings: [...warnings], tests: [...tests] }
      },
    )
  }

const examplePolicy = {
  version: 1,
  default: 'allow',
  rules: [{ id: 'never-delete', tools: ['delete_file'], action: 'deny' }],
}
const exampleYaml = 'version: 1\ndefault: allow\nrules:\n  - { id: never-delete, tools: [delete_file], action: deny }\n'

const sourceOf = (body: unknown): PolicySource => {
  if (Buffer.isBuffer(body)) return { text: body }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GuardError('INVALID_REQUEST', 'Send a policy: {"yaml": text}, {"policy": object} or the policy itself.')
  }
  const { yaml, policy } = body as Readonly<Record<string, unknown>>
  const alone = Object.keys(body).length === 1
  if (yaml !== undefined && policy === undefined && alone) {
    if (typeof yaml === 'string') return { text: yaml }
    throw new GuardError('INVALID_REQUEST', 'The member yaml must be text.', { path: '/yaml' })
  }
  return policy !== undefined && yaml === undefined && alone ? { value: policy } : { value: body }
}
