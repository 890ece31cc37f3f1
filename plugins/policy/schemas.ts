import type { Static } from 'typebox'
import { Type } from '#lib/json'

const Mode = Type.Union([Type.Literal('shadow'), Type.Literal('enforce'), Type.Null()])

const RuleShape = {
  id: Type.String({ description: 'Unique within the policy' }),
  rule_type: Type.String({ description: 'Which detector evaluates it' }),
  threshold: Type.Integer({ description: 'Count that triggers the rule' }),
  window_size: Type.Integer({ description: 'How many recent requests or turns it looks at' }),
  action: Type.String({
    description:
      'In enforce mode `block` refuses, `steer` adds a message and refuses what goes on, and `pause` refuses and lets the session wait for a person; anything else flags',
  }),
  enabled: Type.Boolean(),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  note: Type.Optional(Type.String()),
}

/** A rule as answered: complete. */
const RuleAnswer = Type.Object(RuleShape)

/** A rule as sent: all but the type may be left to the detector's defaults. */
const RuleInput = Type.Object(
  { ...Type.Partial(Type.Object(RuleShape)).properties, rule_type: Type.String() },
  { additionalProperties: false },
)
export const RuleList = Type.Array(RuleInput)

export const ProjectParams = Type.Object({ project_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,128}$' }) })

const ExpectedVersion = {
  expected_version: Type.Optional(
    Type.Integer({ description: 'Refused with 409 if the policy is at another version' }),
  ),
}
export const RemovalQuery = Type.Object(ExpectedVersion, { additionalProperties: false })

/** The members of a policy document. */
export const PolicyShape = {
  mode: Type.Optional(Mode),
  preset: Type.Optional(Type.String({ description: 'Instead of rules' })),
  rules: Type.Optional(RuleList),
  ...ExpectedVersion,
}

export const PolicyInput = Type.Union([Type.Object(PolicyShape, { additionalProperties: false }), RuleList], {
  examples: [{ mode: 'enforce', preset: 'default' }],
})

/** Whose policy holds for a project, and in which mode. */
const PolicySummary = {
  project_id: Type.String(),
  version: Type.Integer({ description: '0: the project has no policy of its own' }),
  source: Type.Union([Type.Literal('own'), Type.Literal('inherited'), Type.Literal('built_in')], {
    description: 'Where it comes from: the project itself, project `default`, or the rules that come with the gateway',
  }),
  mode: Mode,
  mode_in_force: Type.Union([Type.Literal('shadow'), Type.Literal('enforce')], {
    description: 'The mode, or where it is null that of the configuration',
  }),
}

export const PolicyAnswer = Type.Object({
  ...PolicySummary,
  rules: Type.Array(RuleAnswer),
  warnings: Type.Array(
    Type.Object({ code: Type.String(), rule_id: Type.String(), path: Type.String(), message: Type.String() }),
  ),
})

export const PoliciesQuery = Type.Object({
  playground: Type.Optional(Type.Boolean({ description: 'false: without those of the Playground' })),
})

/** The policies of projects that have one of their own, and that of all others. */
export const PoliciesAnswer = Type.Object({
  policies: Type.Array(
    Type.Object({
      ...PolicySummary,
      rules: Type.Integer({ description: 'How many are on' }),
    }),
  ),
  truncated: Type.Boolean({ description: 'There are more' }),
})

export type PolicyAnswer = Static<typeof PolicyAnswer>
