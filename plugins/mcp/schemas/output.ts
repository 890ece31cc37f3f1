import { isJsonObject, readJson } from 'guard-gateway/lib/json'
import { type CompiledSchema, compileSchema } from './compile.ts'

/** The `outputSchema` in the definition of a tool, ready for use; undefined if it has none. */
export const compileOutput = async (definition: string): Promise<CompiledSchema | undefined> => {
  const tool: unknown = readJson(definition)
  return isJsonObject(tool) && isJsonObject(tool.outputSchema) ? compileSchema(tool.outputSchema) : undefined
}
