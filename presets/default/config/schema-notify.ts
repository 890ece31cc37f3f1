import { Type } from 'guard-gateway/lib/json'
import type { Static } from 'typebox'
import { emptyConfig } from './defaults.ts'
import { caSchema, proxySchema } from './schema-network.ts'
import { section } from './schema-parts.ts'

const { notify } = emptyConfig()

/** What the notifier's own schema says of it is checked once all plugins are there. */
const receiverSchema = Type.Object(
  {
    notifier: Type.String({
      minLength: 1,
      description: 'webhook, slack, ntfy or command; or one of your own by its id',
    }),
    url: Type.Optional(Type.String({ minLength: 1 })),
    proxy: proxySchema,
    ca: caSchema,
  },
  { additionalProperties: true },
)

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }))

const ruleSchema = Type.Object(
  {
    events: names('what is told; all if absent'),
    projects: names('of these projects alone; all if absent'),
    to: names('receivers by name; all if absent'),
    every_minutes: Type.Integer({
      minimum: 1,
      maximum: 10_080,
      default: 5,
      description: 'at most one message about the same thing in so long',
    }),
  },
  { additionalProperties: false },
)

/** The section `notify`: who is told of what happens. */
export const notifySchema = Type.Object(
  {
    base_url: Type.String({
      default: notify.base_url,
      description: 'what links in messages begin with; the address of this gateway if empty',
    }),
    receivers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), receiverSchema, {
      default: notify.receivers,
      additionalProperties: false,
      description: 'name to { notifier: webhook, slack, ntfy or command, … }: who is told',
    }),
    rules: Type.Array(ruleSchema, {
      default: notify.rules,
      description: '[{ events, projects, to, every_minutes: 5 }]; none: all to everybody',
    }),
  },
  section,
)

/** One receiver with the way to it worked out. */
export type NotifyReceiverConfig = Static<typeof receiverSchema>
