import { type CompiledSchema, compileSchema, type SchemaFault } from './compile.ts'
import { withoutDefaulted } from './defaults.ts'

/** What a tool says of its arguments, ready for use, or why it cannot be used. */
export type CompiledInput =
  | {
      readonly usable: true
      /** The first fault; undefined for arguments that fit, `partial` if not by every letter of the schema. Never throws. */
      readonly check: (args: unknown) => SchemaFault | 'partial' | undefined
      /** Every fault of arguments that do not fit, at least one. Never rejects. */
      readonly faults: (args: unknown) => Promise<readonly SchemaFault[]>
    }
  | { readonly usable: false; readonly reason: string }

/**
 * Compiles the `inputSchema` of a tool. Arguments fit that meet it as it is written, or that meet it when its server fills in the
 * defaults that the schema itself names.
 */
export const compileInput = async (schema: unknown): Promise<CompiledInput> => {
  const strict = await compileSchema(schema)
  if (!strict.usable) return strict
  const filling = withoutDefaulted(schema)
  const lax = filling === schema ? strict : await compileSchema(filling)
  const last = lax.usable ? lax : strict
  let all: Promise<CompiledSchema> | undefined
  return {
    usable: true,
    check(args) {
      const fault = strict.check(args)
      const passed = strict.skipped.length > 0 ? 'partial' : undefined
      if (fault === undefined) return passed
      return last === strict ? fault : (last.check(args) ?? 'partial')
    },
    async faults(args) {
      const first = last.check(args)
      if (first?.certain !== true) return first === undefined ? [] : [first]
      all ??= compileSchema(last === strict ? schema : filling, { every: true })
      const compiled = await all
      const found = compiled.usable ? compiled.every(args) : []
      return found.length > 0 && found.every(({ certain }) => certain) ? found : [first]
    },
  }
}
