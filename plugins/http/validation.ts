import type { ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'

/**
 * Bodies are taken as they are: nothing is converted or dropped in silence. Queries and parameters are text, so scalars are read from it.
 * A schema is compiled when it is first needed: most routes are never asked, and a start need not wait for all of them.
 */
export const strictValidation = async (app: FastifyInstance): Promise<void> => {
  const { Ajv } = await import('ajv')
  const common = {
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
    removeAdditional: false,
  } as const
  const bodies = new Ajv({ ...common, coerceTypes: false })
  const texts = new Ajv({ ...common, coerceTypes: true })
  app.setValidatorCompiler<object>(({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? bodies : texts
    let compiled: ValidateFunction | undefined
    const validate = (value: unknown): boolean => {
      compiled ??= ajv.compile(schema)
      const valid = compiled(value)
      result.errors = compiled.errors
      return valid
    }
    const result: typeof validate & { errors?: ValidateFunction['errors'] } = validate
    return result as never
  })
  const { SerializerSelector } = await import('@fastify/fast-json-stringify-compiler')
  app.setSerializerCompiler(late(SerializerSelector()({}, {}) as FastifySerializerCompiler<object>))
}

/** Serialisers that are each made when their route answers for the first time. */
const late =
  (compile: FastifySerializerCompiler<object>): FastifySerializerCompiler<object> =>
  (route) => {
    let write: ReturnType<typeof compile> | undefined
    return (data) => {
      write ??= compile(route)
      return write(data)
    }
  }
