import {
  applyEdits,
  type Edit,
  isScanFault,
  type JsonValue,
  memberIn,
  removalsFrom,
  removeMembers,
  scanJson,
} from 'guard-gateway/lib/json'
import { nameOf, toolsIn } from './definition.ts'
import type { ListView } from './server-tools.ts'
import { widened } from './widen-output-schema.ts'

/** A page of a list of tools as the client gets it: without hidden tools and tasks, output schemas widened. Every other character stays. */
export const rewritePage = (result: string, { hidden, canConfirm }: ListView): string => {
  const scan = scanJson(result)
  const list = isScanFault(scan) ? undefined : memberIn(scan.root, 'tools')?.value
  if (isScanFault(scan) || list === undefined) return result
  const tools = toolsIn(scan.root)
  const names = tools.map((tool) => nameOf(result, tool) ?? '')
  const gone = names.map((name) => name !== '' && hidden(name))
  const edits = removalsFrom(list, (index) => gone[index] === true)
  for (const [index, tool] of tools.entries())
    if (gone[index] !== true) edits.push(...editsOf(result, tool, canConfirm(names[index] ?? '')))
  return applyEdits(result, edits)
}

const editsOf = (text: string, tool: JsonValue, mayAsk: boolean): readonly Edit[] => {
  const execution = memberIn(tool, 'execution')?.value
  const tasks = execution === undefined ? [] : removeMembers(execution, ['taskSupport'])
  const schema = mayAsk ? memberIn(tool, 'outputSchema')?.value : undefined
  return schema === undefined ? tasks : [...tasks, ...(widened(text, schema) ?? removeMembers(tool, ['outputSchema']))]
}
