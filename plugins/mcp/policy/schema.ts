import type { McpCheck, McpResultCheck } from '#lib/mcp-check'

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

/** What holds for rules of some actions, and for the others. */
const whenAction = (action: object, ...branches: readonly [object, object?]): object =>
  Object.fromEntries(
    (['if', 'then', 'else'] as const)
      .map((name, at) => [name, at === 0 ? { properties: { action } } : branches[at - 1]])
      .filter(([, schema]) => schema !== undefined),
  )

/** Schemas of what is in a policy's rules and tests, by their names under `$defs`. */
const definitions = {
  strings: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', minLength: 1 } },
  pointer: {
    type: 'string',
    pattern: '^(/([^~/]|~[01])*)+$',
    description: 'JSON pointer into the tool arguments; * as a whole segment stands for every element',
  },
  pointers: { type: 'array', minItems: 1, uniqueItems: true, items: { $ref: '#/$defs/pointer' } },
  duration: { type: 'string', pattern: '^[1-9][0-9]{0,5}(ms|s|m|h|d)$' },
  optional: { type: 'boolean', default: false, description: 'true: a missing argument passes' },
  rule: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'tools', 'action'],
    properties: {
      id: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
        not: { const: 'default' },
        description: 'unique in the file; default is reserved',
      },
      description: { type: 'string' },
      enabled: { type: 'boolean', default: true },
      tools: { $ref: '#/$defs/strings', description: 'exact names or globs with * only, case-sensitive' },
      servers: { $ref: '#/$defs/strings', description: 'server ids or globs; absent: every server' },
      when: {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        description: 'all that is given must hold for the rule to speak; what is not known of a caller matches no name',
        properties: {
          arguments: {
            type: 'object',
            description: 'JSON Schema 2020-12 the arguments must satisfy for the rule to speak',
          },
          agents: { $ref: '#/$defs/strings', description: 'ids of agents or globs' },
          projects: { $ref: '#/$defs/strings', description: 'ids of projects or globs' },
          sessions: {
            $ref: '#/$defs/strings',
            description: 'the sessions that clients name, or globs; a client may give any name',
          },
          clients: {
            $ref: '#/$defs/strings',
            description: 'names of clients at initialize, or globs; a client may give itself any name',
          },
          keys: {
            $ref: '#/$defs/strings',
            description: 'ids or names of the keys that open sessions, or globs; gateway: the gateway key',
          },
        },
      },
      only: {
        type: 'array',
        uniqueItems: true,
        items: { type: 'string', pattern: '^[^/]' },
        description: "names of the only arguments a call may have; any other one is a violation, as a check's",
      },
      action: { enum: ['allow', 'deny', 'confirm', 'transform', 'rate_limit', 'shadow_deny'] },
      checks: {
        type: 'array',
        minItems: 1,
        items: { $ref: '#/$defs/check' },
        description: "all must pass, otherwise on_violation is the rule's verdict",
      },
      on_violation: { enum: ['deny', 'confirm', 'shadow_deny'], default: 'deny' },
      results: { $ref: '#/$defs/results', description: 'checks of the results of calls that the rule speaks to' },
      message: {
        type: 'string',
        maxLength: 500,
        description: 'added to the answer and shown to the approver; may hold {arguments.key}',
      },
      limit: { $ref: '#/$defs/limit' },
      transform: { $ref: '#/$defs/transform' },
    },
    dependentSchemas: { on_violation: { anyOf: [{ required: ['checks'] }, { required: ['only'] }] } },
    allOf: [
      whenAction({ const: 'rate_limit' }, { required: ['limit'] }, { properties: { limit: false } }),
      whenAction({ const: 'transform' }, { required: ['transform'] }, { properties: { transform: false } }),
      whenAction({ enum: ['deny', 'shadow_deny'] }, { properties: { checks: false, only: false } }),
      whenAction({ const: 'deny' }, { properties: { results: false } }),
    ],
  },
  results: { type: 'array', minItems: 1, maxItems: 20, items: { $ref: '#/$defs/result_check' } },
  limit: {
    type: 'object',
    additionalProperties: false,
    required: ['calls', 'per'],
    properties: {
      calls: { type: 'integer', minimum: 1, maximum: 10000 },
      per: { $ref: '#/$defs/duration' },
      key: { enum: ['session', 'server', 'tool', 'agent', 'project', 'client', 'key'], default: 'session' },
    },
  },
  transform: {
    type: 'object',
    additionalProperties: false,
    required: ['arguments'],
    properties: {
      arguments: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: false,
          properties: {
            remove: { $ref: '#/$defs/pointer' },
            set: { type: 'object', minProperties: 1, propertyNames: { $ref: '#/$defs/pointer' } },
            clamp: {
              type: 'object',
              minProperties: 1,
              propertyNames: { $ref: '#/$defs/pointer' },
              additionalProperties: {
                type: 'object',
                additionalProperties: false,
                minProperties: 1,
                properties: { min: { type: 'number' }, max: { type: 'number' } },
              },
            },
            redact: {
              type: 'object',
              additionalProperties: false,
              required: ['pointer', 'pattern', 'with'],
              properties: {
                pointer: { $ref: '#/$defs/pointer' },
                pattern: { type: 'string', minLength: 1, description: 'RE2 syntax' },
                with: { type: 'string' },
              },
            },
          },
        },
      },
    },
  },
  test: {
    type: 'object',
    additionalProperties: false,
    required: ['call', 'expect'],
    properties: {
      name: { type: 'string' },
      call: {
        type: 'object',
        additionalProperties: false,
        required: ['tool'],
        properties: {
          server: { type: 'string' },
          tool: { type: 'string' },
          arguments: { type: 'object' },
          agent: { type: 'string' },
          project: { type: 'string' },
          session: { type: 'string', description: 'as the client names it' },
          client: { type: 'string' },
          key: { type: 'string', description: 'id or name' },
        },
      },
      repeat: {
        type: 'integer',
        minimum: 1,
        maximum: 10001,
        default: 1,
        description: 'make the call this often in one session; the last one is judged',
      },
      expect: { enum: ['allow', 'deny', 'confirm', 'transform', 'rate_limit', 'shadow_deny'] },
      rule: { type: 'string', description: 'a rule id that must be among the winners; default for none' },
      sends: { type: 'object', description: 'the arguments as forwarded, after transforms' },
    },
  },
} as const
