import type { Column } from 'guard-gateway/core'
import type { CallSource } from './call-source.ts'

/**
 * `exact`: stored without redaction. `repeated`: mostly the same from call to call. `remembered`: a member of `Row` of the same name,
 * which a session's history has again after a restart.
 */
export type Flag = 'exact' | 'repeated' | 'remembered'

/** One thing that is on record of a call: the column that holds it, where it comes from, and what else is known of it. */
export interface Fact<C extends Column, V, F extends Flag> {
  readonly column: C
  readonly from: (source: CallSource) => V
  readonly flags: readonly F[]
}

/** Facts by the names of their columns. */
export type Facts = Readonly<Record<string, Fact<Column, unknown, Flag>>>

export const fact = <C extends Column, V, F extends Flag = never>(
  column: C,
  from: (source: CallSource) => V,
  ...flags: readonly F[]
): Fact<C, V, F> => ({ column, from, flags })

/** What the facts say of one call. */
export type ValuesOf<F extends Facts> = { readonly [N in keyof F]: ReturnType<F[N]['from']> }

/** Names of facts with a flag. */
export type Flagged<F extends Facts, G extends Flag> = {
  [N in keyof F & string]: G extends F[N]['flags'][number] ? N : never
}[keyof F & string]

export const flagged = <F extends Facts, G extends Flag>(facts: F, flag: G): readonly Flagged<F, G>[] =>
  Object.keys(facts).filter((name): name is Flagged<F, G> => facts[name]?.flags.includes(flag) === true)

/** The columns of facts, in their order. */
export const columnsOf = <F extends Facts>(facts: F): { readonly [N in keyof F]: F[N]['column'] } => {
  const columns: { [name: string]: Column } = {}
  for (const [name, { column }] of Object.entries(facts)) columns[name] = column
  return columns as { readonly [N in keyof F]: F[N]['column'] }
}

/** What is read from a source, each member by its own reader. */
export type Readers<S, T> = { readonly [N in keyof T]: { readonly from: (source: S) => T[N] } }

/**
 * A function that reads a whole object from a source, compiled as a literal: a loop that sets the members takes 40 times as long, which
 * each request would pay. Throws for a name that cannot stand in code.
 */
export const literalOf = <S, T>(readers: Readers<S, T>): ((source: S) => T) => {
  const names = Object.keys(readers)
  const odd = names.find((name) => !/^[a-z][a-z0-9_]*$/.test(name))
  if (odd !== undefined)
    throw new TypeError(`"${odd}" cannot be the name of a fact; use lower-case letters, digits and underscores.`)
  const members = names.map((name) => `${name}: readers.${name}.from(source)`)
  const compile = new Function('readers', `return (source) => ({ ${members.join(', ')} })`)
  return (compile as (from: Readers<S, T>) => (source: S) => T)(readers)
}
