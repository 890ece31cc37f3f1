import type { Redactor } from 'guard-gateway/core'
import { escapeInvisible } from '#lib/html'
import { isJsonObject, readJson } from '#lib/json'
import { describeTool, type ToolDescription } from '../tools/tool-description.ts'

/** A tool as a draft looks at it: all of it are the server's words. */
export interface DraftedTool extends ToolDescription {
  readonly server_id: string
  readonly name: string
  /** Undefined where it is not on record. */
  readonly inputSchema: unknown
}

/** Reads it from a definition, JSON text as the server wrote it. */
export const draftedTool = (server_id: string, name: string, json: string, redact: Redactor): DraftedTool => {
  const read: unknown = readJson(json)
  return {
    server_id,
    name,
    ...describeTool(json, redact),
    inputSchema: isJsonObject(read) ? read.inputSchema : undefined,
  }
}

/** Longest name of a tool or an argument that a draft puts into a rule. */
const NAME_CHARS = 128

/** A name that a policy would take for a pattern, or that looks like another one, is in no rule: calls of it fall to the default. */
export const isPlainName = (name: string): boolean =>
  name !== '' &&
  name.length <= NAME_CHARS &&
  !/[*?[\]{}|^$()\\\n\t]|^\s|\s$/.test(name) &&
  escapeInvisible(name) === name

/** The same of an argument, which stands in pointers and lists of names. */
export const isPlainArgument = (name: string): boolean =>
  name !== '' && name.length <= NAME_CHARS && !/^[*/]|[\n\t]/.test(name) && escapeInvisible(name) === name
