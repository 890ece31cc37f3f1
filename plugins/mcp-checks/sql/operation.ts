/** What a policy can allow; `other` is all that has no name of its own. */
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

/** What a text asks of a database. */
export interface SqlUsage {
  readonly statements: number
  readonly operations: ReadonlySet<Operation>
  /** Functions by their dotted name as the database sees it, and operators that are not its own. */
  readonly functions: ReadonlySet<string>
  /** Names after the dot of an expression in brackets: columns of a record, or functions of one argument. */
  readonly fields: ReadonlySet<string>
}

/** Why a text cannot be judged, as the end of a sentence about it. */
export class Unclear extends Error {}
