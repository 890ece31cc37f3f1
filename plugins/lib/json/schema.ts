import type * as TypeBox from 'typebox'

type Schema = Record<string, unknown>
type Options = Schema | undefined

/** Not enumerable, as in TypeBox: it is no part of the schema. */
const OPTIONAL = '~optional'

const optional = (schema: Schema): Schema => Object.defineProperty({ ...schema }, OPTIONAL, { value: true })

const object = (properties: Record<string, Schema>, options?: Options): Schema => {
  const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options }
}

const schemas = {
  Array: (items: Schema, options?: Options): Schema => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options): Schema => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options): Schema => ({ enum: values, ...options }),
  Integer: (options?: Options): Schema => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options): Schema => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options): Schema => ({ type: 'null', ...options }),
  Number: (options?: Options): Schema => ({ type: 'number', ...options }),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: { readonly properties: Record<string, Schema> }): Schema =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optional(schema)]))),
  Record: (key: Schema, values: Schema, options?: Options): Schema => ({
    type: 'object',
    patternProperties: { [String(key.pattern ?? '^.*$')]: values },
    ...options,
  }),
  String: (options?: Options): Schema => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Options): Schema => ({ anyOf, ...options }),
  Unknown: (options?: Options): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
}

/** Builds JSON schemas as TypeBox does, with its types; TypeBox itself is 373 modules that nothing else here needs. */
export const Type = schemas as unknown as Pick<typeof TypeBox, keyof typeof schemas>
