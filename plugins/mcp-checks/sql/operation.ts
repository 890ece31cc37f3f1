/** Operations that a policy can allow. `other` stands for all unnamed ones. */
export const operations = [
  ...([
    'select',
    'explain',
    'show',
    'insert',
    'update',
    'delete',
    'merge',
    'create',
    'alter',
    'drop',
    'truncate',
  ] as const),
  ...(['grant', 'transaction', 'set', 'call', 'copy', 'other'] as const),
] as const

export type Operation = (typeof operations)[number]

/** The statements, operations and functions of a text. */
export interface SqlUsage {
  readonly statements: number
  readonly operations: ReadonlySet<Operation>
  /** Functions by their dotted name, and operators that are not built in. */
  readonly functions: ReadonlySet<string>
  /** Names after the dot of an expression in brackets: columns of a record, or functions of one argument. */
  readonly fields: ReadonlySet<string>
}

/** The reason why a text cannot be judged, as the end of a sentence about it. */
export class Unclear extends Error {}
