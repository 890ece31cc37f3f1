import type { McpCheck, McpResultCheck } from 'guard-gateway/lib/mcp-check'
import { definitions } from './definitions.ts'

/** The part of the policy schema that depends on no check. */
const frame = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:guard:mcp-policy:v1',
  title: 'Guard MCP policy, version 1',
  description:
    'One file, one policy. The order of rules does not matter: the strictest opinion wins. Checks brought by plugins are merged into $defs.check when the policy is loaded.',
  type: 'object',
  additionalProperties: false,
  required: ['version', 'rules'],
  properties: {
    $schema: { type: 'string' },
    version: { const: 1 },
    description: { type: 'string' },
    mode: {
      enum: ['enforce', 'shadow'],
      default: 'enforce',
      description: 'shadow forwards every valid call and records what enforce would have done',
    },
    default: {
      enum: ['allow', 'confirm', 'deny'],
      default: 'deny',
      description: 'what happens to a call that no rule matches',
    },
    hide_denied_tools: {
      type: 'boolean',
      description:
        "remove tools with an exact, unconditional deny from tools/list; absent: the configuration's hide_denied_tools, else false",
    },
    pinning: {
      enum: ['off', 'warn', 'confirm', 'deny'],
      default: 'warn',
      description: 'what a changed or new tool definition does to calls of that tool',
    },
    methods: {
      type: 'object',
      description:
        'what happens to requests other than tool calls, of the client and of the server, by method or glob; other: those not named. Without it they pass, unless default is deny: then reads, prompts, unknown requests, and sampling and elicitation outside of a call are denied',
      propertyNames: { pattern: '^[^\\s]{1,128}$' },
      additionalProperties: { enum: ['allow', 'confirm', 'deny'] },
    },
    vars: {
      type: 'object',
      description: `values for \${name} in checks; each may hold \${ENV} or \${ENV:-default}, read once at load`,
      propertyNames: { pattern: '^[a-z][a-z0-9_]*$' },
      additionalProperties: { type: 'string' },
    },
    results: { $ref: '#/$defs/results', description: 'checks of the results of all calls' },
    rules: { type: 'array', maxItems: 1000, items: { $ref: '#/$defs/rule' } },
    tests: { type: 'array', items: { $ref: '#/$defs/test' } },
  },
} as const

/** What a check of results objects to, and what follows from it. */
const withAction = ({ schema, mends }: McpResultCheck): object => ({
  ...schema,
  properties: {
    ...(schema as { readonly properties?: object }).properties,
    action: {
      enum: ['shadow', mends, 'deny'],
      default: 'shadow',
      description: `what follows from what is found; shadow: a record, ${mends}: the result without it, deny: an error instead`,
    },
  },
})

/** The JSON Schema (2020-12) of policies that may use these checks. */
export const policySchema = (checks: Iterable<McpCheck>, resultChecks: Iterable<McpResultCheck>): object => ({
  ...frame,
  $defs: {
    ...definitions,
    check: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: Object.fromEntries([...checks].map(({ id, schema }) => [id, schema])),
    },
    result_check: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: Object.fromEntries([...resultChecks].map((check) => [check.id, withAction(check)])),
    },
  },
})
