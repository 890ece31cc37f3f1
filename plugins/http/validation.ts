import type { FastifyInstance } from 'fastify'

/** Bodies are taken as they are: nothing is converted or dropped in silence. Queries and parameters are text, so scalars are read from it. */
export const strictValidation = async (app: FastifyInstance): Promise<void> => {
  const { Ajv } = await import('ajv')
  const common = {
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
  } as const
  const bodies = new Ajv({ ...common, coerceTypes: false, removeAdditional: false })
  const texts = new Ajv({ ...common, coerceTypes: true, removeAdditional: false })
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? bodies : texts).compile(schema))
}
