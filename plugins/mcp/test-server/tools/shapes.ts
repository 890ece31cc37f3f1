import { isJsonObject } from 'guard-gateway/lib/json'
import { type Arguments, object, type TestTool, text } from '../tool.ts'

/** Answers with the arguments, and with what `structured` holds as structured content: a server can say anything. */
const echo = (args: Arguments) => ({
  ...text(JSON.stringify(args)),
  ...(isJsonObject(args.structured) ? { structuredContent: args.structured } : {}),
})

const address = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}

/** Tools whose definitions are the point. `version`: of the definition of `changing`. */
export const shapeTools = (version: () => number): readonly TestTool[] => [
  {
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      // As text: an object that is written with a member `then` looks like something to wait for.
      ...JSON.parse(
        `{"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
          "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
          "then":{"required":["phone"]},"else":{"required":["email"]}}`,
      ),
      additionalProperties: false,
    },
    call: echo,
  },
  { name: 'echo', description: 'Answers with its arguments', inputSchema: { type: 'object' }, call: echo },
  {
    name: 'typed_output',
    description: 'Answers with structured content',
    inputSchema: object({ value: { type: 'integer' } }),
    outputSchema: object({ value: { type: 'integer' }, doubled: { type: 'integer' } }),
    call({ value }) {
      const structuredContent = { value, doubled: Number(value) * 2 }
      return { ...text(JSON.stringify(structuredContent)), structuredContent }
    },
  },
  {
    name: 'changing',
    get description() {
      return `Is defined anew whenever the tools are listed; this is version ${version()}`
    },
    inputSchema: object(),
    call: () => text(`Version ${version()}.`),
  },
]
