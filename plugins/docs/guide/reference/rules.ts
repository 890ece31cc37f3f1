import type { Detector, Gateway } from 'guard-gateway/core'
import type { GuidePage } from 'guard-gateway/lib/page'
import { code, plainly, table } from './table.ts'

interface ParamSchema {
  readonly description?: string
  readonly default?: unknown
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly { readonly const?: unknown }[]
}

/** Every detector, which is what the `rule_type` of a rule names. */
export const rulesPage = ({ detectors }: Gateway): GuidePage => ({
  id: 'rules',
  title: 'Rules and their params',
  text: () =>
    `A rule of a policy names one of these as \`rule_type\`. [What rules may say](plugins/detectors/README.md#rules) · [simulate before you enforce](plugins/policy/simulate/README.md)\n\n${[
      ...detectors,
    ]
      .toSorted((one, other) => one.id.localeCompare(other.id))
      .map(detectorText)
      .join('\n')}`,
})

const detectorText = ({ id, code: reason, kind, summary, help, unit, needs, defaults, params }: Detector): string =>
  [
    `## ${id}\n`,
    `${code(reason)}, a rule of the kind ${kind}. ${summary === undefined ? '' : `${plainly(summary)}. `}${plainly(help ?? '')}\n`,
    table(
      ['Key', 'Default', 'Meaning'],
      [
        ['`threshold`', code(String(defaults.threshold)), unit === undefined ? '' : plainly(`counts ${unit}`)],
        ['`window_size`', code(String(defaults.window_size)), 'turns or requests that are looked at'],
        ['`action`', code(defaults.action ?? 'block'), needs === 'prices' ? 'says nothing without prices' : ''],
        ...Object.entries(
          (params as { readonly properties?: Readonly<Record<string, ParamSchema>> } | undefined)?.properties ?? {},
        ).map(([name, schema]) => [
          code(`params.${name}`),
          defaultText((defaults.params as Readonly<Record<string, unknown>> | undefined)?.[name] ?? schema.default),
          plainly([schema.description ?? '', choices(schema)].filter((part) => part !== '').join('; ')),
        ]),
      ],
    ),
  ].join('\n')

const defaultText = (value: unknown): string => (value === undefined ? '' : code(JSON.stringify(value)))

const choices = ({ enum: values, anyOf = [] }: ParamSchema): string => {
  const all = values ?? anyOf.flatMap((one) => (one.const === undefined ? [] : [one.const]))
  return all.length === 0 ? '' : `one of ${all.join(', ')}`
}
